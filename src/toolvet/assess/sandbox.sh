# The start of a server where bubblewrap is absent: run inside `unshare --mount --pid …`, with these words:
#   the size option of new folders (`,size=64m`, or nothing), CWD, how many folders it may write to, these folders, how many paths below /tmp it may read, these paths, COMMAND…
# Everything that is mounted becomes read-only; /tmp, /var/tmp, /run and /dev are new and hold what is named here.
set -eu
size=$1 cwd=$2 writable=$3
shift 3
if [ -L /run/current-system ]; then system=$(readlink /run/current-system); fi
mount -t proc proc /proc
while read -r _ at _; do
    mount -o remount,bind,ro "$(printf '%b' "$at")" 2>/dev/null || true
done </proc/self/mounts
mount -t tmpfs -o "mode=755$size" tmpfs /run
if [ -n "${system-}" ]; then ln -s "$system" /run/current-system; fi

# Kept aside, because the new /tmp hides them.
keep() {
    at=/run/keep/$1
    if [ -d "$2" ]; then mkdir -p "$at"; else mkdir -p /run/keep && touch "$at"; fi
    mount --bind "$2" "$at"
}
put() {
    if [ -d "/run/keep/$1" ]; then mkdir -p "$2" 2>/dev/null || true; else mkdir -p "$(dirname "$2")" && touch "$2"; fi
    mount --bind "/run/keep/$1" "$2"
    mount -o "remount,bind,$3" "$2"
    umount "/run/keep/$1"
}
number=0
while [ "$number" -lt "$writable" ]; do
    keep "$number" "$1"
    eval "path$number=\$1"
    number=$((number + 1))
    shift
done
readable=$((number + $1))
shift
while [ "$number" -lt "$readable" ]; do
    keep "$number" "$1"
    eval "path$number=\$1"
    number=$((number + 1))
    shift
done

mkdir /run/dev /run/dev/shm
for node in null zero full random urandom tty; do
    touch "/run/dev/$node"
    mount --bind "/dev/$node" "/run/dev/$node"
done
ln -s /proc/self/fd /run/dev/fd
for stream in stdin:0 stdout:1 stderr:2; do ln -s "/proc/self/fd/${stream#*:}" "/run/dev/${stream%:*}"; done
mount --rbind /run/dev /dev
for folder in /tmp /var/tmp; do mount -t tmpfs -o "mode=1777$size" tmpfs "$folder"; done

# What may only be read first: a folder that may be written to can be inside.
number=$writable
while [ "$number" -lt "$readable" ]; do eval "put $number \"\$path$number\" ro"; number=$((number + 1)); done
number=0
while [ "$number" -lt "$writable" ]; do eval "put $number \"\$path$number\" rw"; number=$((number + 1)); done

if touch /.toolvet-probe 2>/dev/null; then
    rm -f /.toolvet-probe
    echo "toolvet: the file system could not be made read-only; install bubblewrap" >&2
    exit 1
fi
ip link set lo up 2>/dev/null || true
cd "$cwd"
if command -v setpriv >/dev/null 2>&1; then
    # Root could otherwise undo all of this, or write to the disk past the file system.
    less=-sys_admin,-sys_rawio,-sys_ptrace,-sys_module,-sys_chroot,-mknod,-net_admin
    exec setpriv --bounding-set="$less" --inh-caps="$less" --no-new-privs -- "$@"
fi
exec "$@"
