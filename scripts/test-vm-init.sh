#!/bin/busybox sh
# The first process of the machine that test-vm.sh boots: loads modules, mounts
# the disk with one cgroup v2 tree on it, and runs the tests there.
/bin/busybox --install -s /bin
export PATH=/bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
while read -r module; do
	insmod "/modules/$module" || echo "test-vm: cannot load $module"
done </modules/order
wait=0
until [ -b /dev/vda ] || [ "$wait" -ge 50 ]; do
	sleep 0.1
	wait=$((wait + 1))
done
mount -t ext4 /dev/vda /root || echo "test-vm verdict: failed: no disk"
umount /proc
mount -t proc -o nosuid,nodev,noexec proc /root/proc
mount -t sysfs -o nosuid,nodev,noexec sys /root/sys
mount -t devtmpfs dev /root/dev
mkdir -p /root/dev/shm
mount -t tmpfs -o nosuid,nodev,mode=1777 shm /root/dev/shm
chmod 1777 /root/tmp # on the disk: this kernel maps no ids in tmpfs
mount -t tmpfs -o nosuid,nodev,mode=755 run /root/run
mount -t cgroup2 -o nsdelegate cgroup2 /root/sys/fs/cgroup
exec switch_root /root /vm/busybox sh /vm/inside.sh
