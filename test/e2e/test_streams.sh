#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The streams into a guest: its display through VNC and as a picture, ports of its own through loopback ports and
# standard input; who is displaced or refused; all of it whole, and nothing left open.
# environments: embed system
# takes: 70
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

# rfb PORT: a viewer's handshake; prints the server's version and the size of its display.
rfb()
{
	perl -MIO::Socket::INET -e '
		$| = 1;
		my $s = IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => $ARGV[0], Timeout => 30) or die "$!\n";
		sub take { my ($n, $got) = (@_, ""); while (length $got < $n) { sysread $s, $got, $n - length $got, length $got or die "it ended\n"; } $got }
		$SIG{ALRM} = sub { die "no answer\n" };
		alarm 30;
		my $version = take(12);
		syswrite $s, $version;
		my $types = take(ord take(1));
		index($types, "\1") >= 0 or die "it wants a password\n";
		syswrite $s, "\1";
		unpack("N", take(4)) == 0 or die "refused\n";
		syswrite $s, "\1";
		my ($width, $height) = unpack("nn", take(24));
		chomp $version;
		print "$version ${width}x$height\n";
		if ($ARGV[1]) { open my $ready, ">", $ARGV[1]; close $ready; 1 while sysread $s, $version, 4096 }
	' "$@"
}

# png_size FILE: "720x400", of a file that begins as a PNG does.
png_size()
{
	perl -e '
		local $/; my $png = <>;
		my ($magic, $length, $type, $width, $height) = unpack("a8 N a4 N N", $png);
		$magic eq "\x89PNG\r\n\x1a\n" && $type eq "IHDR" && $png =~ /IEND....\z/s or exit 1;
		print "${width}x$height\n";
	' "$1"
}

get_page() { printf 'GET %s HTTP/1.0\r\n\r\n' "$1"; } # PATH
body() { LC_ALL=C sed '1,/^\r$/d'; }
through_stdio() { get_page "$1" | vmactl port-forward --stdio vm/web 80 2>/dev/null | body; } # PATH
through_port() # PORT PATH
{
	local fd
	exec {fd}<>"/dev/tcp/127.0.0.1/$1"
	get_page "$2" >&"$fd"
	body <&"$fd"
	exec {fd}>&-
}
sum() { md5sum | cut -d ' ' -f 1; }
# Forwards of QEMU's that listen: 127.118.109.97 as the kernel prints it.
no_forward() { ! grep -q ' 616D767F:[0-9A-F]* [0-9A-F:]* 0A ' /proc/net/tcp; }

begin
free=$(free_ports 1)
manifest web Always net | sed "s|^    spec:|    metadata: { annotations: { vmagent.io/host-ports: '$free:80' } }\n&|" | put web.yaml
running web
up web
vm dark Always blank headless
running dark
await 'the guest has its address' says web '^net eth0'

# ---- the display
holds 'a picture of the display' vmactl vnc screenshot web -f "$T/log/web.png" --move-cursor
size=$(png_size "$T/log/web.png")
isnt '… is a PNG' "$size" ''
is '… the same through standard output' "$(vmactl vnc screenshot web -f - >"$T/log/2.png"; png_size "$T/log/2.png")" "$size"
is 'none of a guest without a display' "$(vmactl vnc screenshot dark -f - 2>&1)" \
	"Error from server (BadRequest): No graphics devices are present: autoattachGraphicsDevice of 'dark' is false"

"$B/vmactl" vnc web --proxy-only >"$T/log/vnc1" 2>&1 &
first=$!
await 'vnc prints its port' grep -q '^{"port":[0-9]*}$' "$T/log/vnc1"
rfb "$(tr -dc 0-9 <"$T/log/vnc1")" "$T/rfb" >"$T/log/rfb1" &
viewer=$!
await 'a viewer is connected' test -e "$T/rfb"
is 'VNC: a viewer sees the same display' "$(cat "$T/log/rfb1")" "RFB 003.008 $size"
is '… and is not displaced by who asks not to' "$("$B/vmactl" vnc web --proxy-only --preserve-session 2>&1)" \
	"Error from server (ServiceUnavailable): Active VNC connection. Request denied: somebody else is connected to 'web'"
"$B/vmactl" vnc web --proxy-only >"$T/log/vnc2" 2>&1 &
second=$!
soon '… but by a newcomer' not alive "$first"
is '… and is told' "$(tail -n 1 "$T/log/vnc1")" 'error: the display was closed: another client has taken over this VNC session'
await 'the viewer ends' not alive "$viewer"
await 'vnc prints its port' grep -q '^{"port":[0-9]*}$' "$T/log/vnc2"
is '… who sees it then' "$(rfb "$(tr -dc 0-9 <"$T/log/vnc2")")" "RFB 003.008 $size"
soon '… and has left when its viewer has' not alive "$second"

# ---- a port
type_in web 'run mkdir /www; echo hello from port 80 >/www/index.html; dd if=/dev/urandom of=/www/big bs=4096 count=512; httpd -p 80 -h /www; md5sum /www/big'
await 'the guest serves pages' says web '^[0-9a-f]\{32\}  /www/big'
wanted=$(grep -a -o '^[0-9a-f]\{32\}  /www/big' "$S/vmi/$(vmi_uid web)/serial0.log" | cut -d ' ' -f 1)
is 'port-forward --stdio: a page' "$(through_stdio /)" 'hello from port 80'
is '… and 2 MiB, each byte' "$(through_stdio /big | sum)" "$wanted"
is 'a port of the host leads to it' "$(through_port "$free" /)" 'hello from port 80'
is 'a port on which nobody listens' "$(vmactl port-forward --stdio vmi/web 81 2>&1 </dev/null)" \
	"Error from server (ServiceUnavailable): connection refused: nothing listens on port 81 of 'web'"
is 'none of a guest without a network' "$(vmactl port-forward --stdio vm/dark 80 2>&1 </dev/null)" \
	"Error from server (BadRequest): no network interfaces are present in 'dark'"

"$B/vmactl" port-forward vm/web/default 0:80 tcp/0:22 >"$T/log/forward" 2>&1 &
forward=$!
await 'port-forward prints its ports' grep -q 'to 22$' "$T/log/forward"
port=$(sed -n 's/^forwarding tcp 127.0.0.1:\([0-9]*\) to 80$/\1/p' "$T/log/forward")
is 'port-forward: a page' "$(through_port "$port" /)" 'hello from port 80'
exec 7<>"/dev/tcp/127.0.0.1/$port" # says nothing yet
for i in 1 2 3; do
	through_port "$port" /big | sum >"$T/log/big$i" &
	pids[i]=$!
done
wait "${pids[@]}"
is '… and 2 MiB three times at once, beside one that is silent' "$(sort -u "$T"/log/big?)" "$wanted"
soon 'no forward of QEMU listens afterwards' no_forward
if [ "$ENV" = system ]; then
	virsh -q -c qemu:///system qemu-monitor-command default_web --hmp 'hostfwd_add tcp:127.118.109.97:0-:99' >/dev/null
	holds 'one that a killed agent has left' not no_forward
	is '… is in no one'\''s way' "$(through_stdio /)" 'hello from port 80'
	soon '… and goes with the next' no_forward
fi

# ---- the end
holds 'stop is accepted' vmactl stop web
soon 'the VMI goes' no_vmi web
# shellcheck disable=SC2016 # the inner shell's
holds 'a connection ends with its guest' timeout 30 bash -c 'cat <&7' 7<&7
exec 7>&-
is 'then there is nobody to connect to' "$(vmactl port-forward --stdio vm/web 80 2>&1 </dev/null)" \
	"Error from server (Conflict): VMI is not started: start the VM 'web' first"
is '… and nothing to look at' "$(vmactl vnc web --proxy-only 2>&1)" \
	'Error from server (NotFound): virtualmachineinstances.kubevirt.io "web" not found'
signal TERM "$forward"
soon 'port-forward leaves no child' same '' pgrep -f "^$B/vmactl port-forward"
