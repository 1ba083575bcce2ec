#!/bin/bash
# test-vm.sh: boots a stock Debian cloud kernel under emulation with nothing
# but cgroup v2, and runs the root tests of sandboxes there, then a worker from
# init to down. Prints what the tests print; exits 0 if all passed, 1 if one
# failed, 5 if this machine cannot do it, 124 if it took too long.
#
# TEST_VM_SECONDS bounds the run in the machine (default 1500), TEST_VM_MB is its
# memory (default 2048), TEST_VM_RUN selects tests as go test -run does: "." is all
# of them, the default a choice. What was left out is named.
# Downloads and the base image are kept in $XDG_CACHE_HOME/open-lambda/vm.
set -euo pipefail
cd "$(dirname "$0")/.."

# What says most about control groups and kernel for its time. All else takes as
# long again under emulation.
readonly most='^Test(V2.*|Host.*|Probe|OpenRefuses|ReadLayout|PoolReuses|Delegate|Unchanged.*|Confinement|Contract|ContractOfContainers|Leaks|UserNamespaces|NamesThroughNAT|HelperDies)$'
readonly seconds=${TEST_VM_SECONDS:-1500} memory=${TEST_VM_MB:-2048} select=${TEST_VM_RUN:-$most}
readonly all="doctor cgroup smoke runc sock"
readonly parts=${TEST_VM_PARTS:-$all}
readonly cache=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/open-lambda/vm
# What the machine's hardware and the tests need of the kernel's modules.
readonly modules=(virtio_pci virtio_blk ext4 overlay veth bridge nf_tables nft_chain_nat nft_masq nft_ct nft_fib_inet nf_conntrack_netlink nft_reject_inet nft_limit)

say() { echo "test-vm: $*" >&2; }
unfit() {
	say "$*"
	exit 5
}

# Packages by a file that each brings.
tools() {
	local missing=() pair
	for pair in /usr/bin/qemu-system-x86_64=qemu-system-x86 /bin/busybox=busybox-static \
		/sbin/depmod=kmod /usr/bin/cpio=cpio /sbin/mke2fs=e2fsprogs /usr/bin/dpkg-deb=dpkg; do
		[[ -e ${pair%=*} ]] || missing+=("${pair#*=}")
	done
	((${#missing[@]})) || return 0
	say "installing ${missing[*]}"
	local install=(scripts/as-root.sh env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}")
	"${install[@]}" >/dev/null 2>&1 || { scripts/as-root.sh apt-get update >&2 && "${install[@]}" >&2; } ||
		unfit "cannot install ${missing[*]}"
}

# fetch_kernel leaves the newest cloud kernel, unpacked, in $kernel.
fetch_kernel() {
	local package
	package=$(apt-cache depends linux-image-cloud-amd64 2>/dev/null | sed -n 's/^ *Depends: \(linux-image-.*\)$/\1/p' | head -1)
	[[ $package ]] || unfit "this machine's package sources have no linux-image-cloud-amd64: it takes Debian's"
	kernel=$cache/$package
	[[ -e $kernel/done ]] && return
	say "fetching $package"
	rm -rf "$kernel"
	mkdir -p "$kernel"
	(cd "$kernel" && apt-get download "$package" >/dev/null && dpkg-deb -x ./*.deb . && rm ./*.deb) ||
		unfit "cannot fetch $package: apt-get update may help"
	depmod -b "$kernel" "${package#linux-image-}"
	touch "$kernel/done"
}

# make_base leaves a Debian userland with python3 in $cache/worker/base.
make_base() {
	[[ -e $cache/worker/initialised ]] && return
	say "making the base image"
	rm -rf "$cache/worker"
	scripts/as-root.sh ./ol worker init -p "$cache/worker" -i debian >&2 || unfit "cannot make the base image"
	touch "$cache/worker/initialised"
}

# Programs are built here, without the race detector: emulation is slow enough.
build() {
	mkdir -p "$work/vm"
	CGO_ENABLED=0 go test -c -o "$work/vm/cgroup.test" ./sock/cgroup
	go test -c -o "$work/vm/sock.test" ./sock
	cp ol "$work/vm/"
	[[ ! -e ol-runc ]] || cp ol-runc "$work/vm/"
	cp scripts/test-vm-inside.sh "$work/vm/inside.sh"
	cp /bin/busybox "$work/vm/"
	echo "$select" >"$work/vm/select"
	echo "$parts" >"$work/vm/parts"
}

# make_initramfs packs busybox, the modules and the first process.
make_initramfs() {
	local root=$work/initramfs version=${kernel##*/linux-image-} name file
	mkdir -p "$root"/{bin,proc,sys,dev,root,modules}
	cp /bin/busybox "$root/bin/"
	cp scripts/test-vm-init.sh "$root/init"
	for name in "${modules[@]}"; do
		modprobe -d "$kernel" -S "$version" --show-depends "$name" | sed -n 's/^insmod \([^ ]*\).*/\1/p' || say "the kernel has no module $name"
	done | awk '!seen[$0]++' | while read -r file; do
		cp "$file" "$root/modules/"
		basename "$file" >>"$root/modules/order"
	done
	(cd "$root" && find . | cpio --quiet -o -H newc | gzip -1) >"$work/initramfs.gz"
}

# make_disk puts base and programs on a file system of their own.
make_disk() {
	local root=$work/root
	mkdir "$root"
	scripts/as-root.sh cp -a "$cache/worker/base/." "$root/"
	scripts/as-root.sh cp -a "$work/vm" "$root/vm"
	scripts/as-root.sh mkdir -p "$root"/{proc,sys,dev,tmp,run,root,var/tmp}
	scripts/as-root.sh mke2fs -q -t ext4 -d "$root" "$work/disk.img" 1g
	scripts/as-root.sh rm -rf "$root"
	scripts/as-root.sh chown "$(id -u)" "$work/disk.img"
}

boot() {
	local image
	image=$(echo "$kernel"/boot/vmlinuz-*)
	say "booting ${image##*/vmlinuz-} with ${memory} MB under emulation, for at most $seconds s"
	timeout --foreground "$seconds" qemu-system-x86_64 -M q35 -accel tcg,thread=multi -cpu max -smp 2 -m "$memory" \
		-display none -monitor none -serial stdio -no-reboot -nic none \
		-kernel "$image" -initrd "$work/initramfs.gz" \
		-append "console=ttyS0 quiet panic=-1 mitigations=off" \
		-drive "file=$work/disk.img,format=raw,if=virtio,cache=unsafe" </dev/null 2>&1 |
		sed -u 's/\r$//' | tee "$work/console"
}

main() {
	local part
	for part in $parts; do
		[[ " $all " == *" $part "* ]] || { say "no part is called $part: TEST_VM_PARTS takes some of: $all" && exit 2; }
	done
	[[ $(uname -m) == x86_64 ]] || unfit "it boots an amd64 kernel, on amd64 only"
	command -v apt-get >/dev/null || unfit "it takes Debian's packages, and there is no apt-get here"
	tools
	PATH=$PATH:/sbin:/usr/sbin
	make --no-print-directory ol ol-runc >&2
	mkdir -p "$cache"
	work=$(mktemp -d "${TMPDIR:-/tmp}/test-vm-XXXXXX")
	trap 'rm -rf "$work"' EXIT
	fetch_kernel
	make_base
	build
	make_initramfs
	make_disk
	local status=0
	boot || status=$?
	if ((status == 124)); then
		say "stopped after $seconds s; TEST_VM_SECONDS gives it longer"
		exit 124
	fi
	local verdict
	verdict=$(sed -n 's/^test-vm verdict: //p' "$work/console" | tail -1)
	case $verdict in
	passed) say "passed in $SECONDS s" ;;
	failed*) say "$verdict" && exit 1 ;;
	*) say "the machine stopped without a verdict" && exit 1 ;;
	esac
}

main
