/* An MCP server that does nothing as fast as possible: every tools/call is answered with a kibibyte of text.

   echo_server [BYTES] ["schema"]   BYTES bytes: beyond a kibibyte they are JSON, as many servers send it, in a text.
                                    "schema": the tool has an outputSchema, and the JSON is structured content as well. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char in[1 << 21], out[1 << 22], text[1 << 20], result[1 << 21];
static const char *promise = "";

static const char INITIALIZE[] =
    "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"tools\":{}},\"serverInfo\":{\"name\":\"echo\",\"version\":\"1\"}}";
static const char TOOLS[] =
    "{\"tools\":[{\"name\":\"echo\",%s\"inputSchema\":{\"type\":\"object\",\"properties\":{\"text\":{\"type\":\"string\"},"
    "\"times\":{\"type\":\"integer\",\"minimum\":1},\"mode\":{\"enum\":[\"plain\",\"loud\"]}},\"required\":[\"text\"]}}]}";

/* The id as it stands: a number, or a string with its quotes. */
static size_t id_of(const char *line, size_t length, const char **id) {
    const char *found = memmem(line, length, "\"id\":", 5);
    if (!found) return 0;
    const char *start = found + 5, *end = line + length;
    while (start < end && *start == ' ') start++;
    const char *stop = start;
    if (stop < end && *stop == '"') {
        do stop++; while (stop < end && *stop != '"');
        stop++;
    } else {
        while (stop < end && *stop != ',' && *stop != '}') stop++;
    }
    *id = start;
    return stop - start;
}

static size_t answer(const char *line, size_t length, char *to) {
    const char *id;
    size_t size = id_of(line, length, &id);
    if (!size) return 0;
    size_t at = sprintf(to, "{\"jsonrpc\":\"2.0\",\"id\":%.*s,", (int)size, id);
    if (memmem(line, length, "\"tools/call\"", 12))
        at += sprintf(to + at, "\"result\":%s}\n", result);
    else if (memmem(line, length, "\"tools/list\"", 12)) {
        at += sprintf(to + at, "\"result\":");
        at += sprintf(to + at, TOOLS, promise);
        at += sprintf(to + at, "}\n");
    }
    else if (memmem(line, length, "\"initialize\"", 12))
        at += sprintf(to + at, "\"result\":%s}\n", INITIALIZE);
    else
        at += sprintf(to + at, "\"error\":{\"code\":-32601,\"message\":\"Method not found\"}}\n");
    return at;
}

static int write_all(const char *data, size_t size) {
    while (size) {
        ssize_t written = write(1, data, size);
        if (written <= 0) return 0;
        data += written;
        size -= written;
    }
    return 1;
}

/* {"rows":[{"id":1,"name":…},…]} of about that size, with quotes as they are or escaped, as in a text of JSON. */
static size_t rows(char *to, size_t size, const char *quote) {
    size_t at = sprintf(to, "{%srows%s:[", quote, quote);
    for (int id = 1; id == 1 || at < size; id++)
        at += sprintf(to + at, "%s{%sid%s:%d,%sname%s:%sThe quick brown fox%s,%sprice%s:%d.5,%sin_stock%s:true}", id > 1 ? "," : "",
                      quote, quote, id, quote, quote, quote, quote, quote, quote, id % 90, quote, quote);
    return at + sprintf(to + at, "]}");
}

static void fill(size_t size, int schema) {
    size_t at = 0;
    if (size > 1024 || schema) rows(text, size, "\\\"");
    else
        for (const char word[] = "The quick brown fox jumps over the lazy dog. "; at < size; at++) text[at] = word[at % (sizeof word - 1)];
    at = sprintf(result, "{\"content\":[{\"type\":\"text\",\"text\":\"%s\"}],", text);
    if (schema) {
        promise = "\"outputSchema\":{\"type\":\"object\",\"properties\":{\"rows\":{\"type\":\"array\",\"items\":{\"type\":\"object\","
                  "\"properties\":{\"id\":{\"type\":\"integer\"},\"name\":{\"type\":\"string\"},\"price\":{\"type\":\"number\"}},"
                  "\"required\":[\"id\",\"name\"]}}},\"required\":[\"rows\"]},";
        at += sprintf(result + at, "\"structuredContent\":");
        at += rows(result + at, size, "\"");
        at += sprintf(result + at, ",");
    }
    sprintf(result + at, "\"isError\":false}");
}

int main(int count, char **words) {
    size_t size = count > 1 ? strtoul(words[1], 0, 10) : 1024;
    if (size > 1 << 19) return 2;
    fill(size, count > 2);
    size_t have = 0;
    for (;;) {
        ssize_t got = read(0, in + have, sizeof in - have);
        if (got <= 0) return 0;
        have += got;
        size_t begin = 0, ready = 0;
        char *feed;
        while ((feed = memchr(in + begin, '\n', have - begin))) {
            size_t length = feed - (in + begin);
            if (ready > sizeof out - sizeof result - 4096) {
                if (!write_all(out, ready)) return 0;
                ready = 0;
            }
            ready += answer(in + begin, length, out + ready);
            begin += length + 1;
        }
        if (ready && !write_all(out, ready)) return 0;
        memmove(in, in + begin, have - begin);
        have -= begin;
    }
}
