// An MCP server on stdio with one tool, behind the interceptors of Docker's MCP gateway, as its command line names them.
package main

import (
	"context"
	"encoding/json"
	"log"
	"os"

	"github.com/docker/mcp-gateway/pkg/interceptors"
	"github.com/docker/mcp-gateway/pkg/telemetry"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const schema = `{"type": "object", "properties": {"zone": {"type": "string"}, "style": {"enum": ["short", "long"]}}, "required": ["zone"]}`

func main() {
	telemetry.Init()
	parsed, err := interceptors.Parse(os.Args[1:])
	if err != nil {
		log.Fatal(err)
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "clock", Version: "1"}, nil)
	tool := &mcp.Tool{Name: "now", Description: "The time in a zone.", InputSchema: json.RawMessage(schema)}
	server.AddTool(tool, func(_ context.Context, request *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		var given map[string]any
		_ = json.Unmarshal(request.Params.Arguments, &given)
		log.Printf("called %s", request.Params.Arguments)
		text := "It is 12:00."
		if given["zone"] == "Mars/Phobos" {
			text = "Error: connection refused by clock.example:443"
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil
	})
	server.AddReceivingMiddleware(interceptors.Callbacks(false, false, false, parsed)...)
	if err := server.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		log.Fatal(err)
	}
}
