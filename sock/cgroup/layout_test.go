package cgroup

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadLayout(t *testing.T) {
	cases := []struct {
		name, mounts, self string
		want               Layout
		full               bool
	}{
		{
			name:   "full v2",
			mounts: "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n",
			self:   "0::/system.slice/ol.service\n",
			want: Layout{
				Unified: Hierarchy{"/sys/fs/cgroup", "/sys/fs/cgroup/system.slice/ol.service"},
				V1:      map[string]Hierarchy{},
			},
			full: true,
		},
		{
			name:   "container on v2 without a cgroup namespace",
			mounts: "30 23 0:26 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup rw\n",
			self:   "0::/docker/abc\n",
			want:   Layout{Unified: Hierarchy{"/sys/fs/cgroup", "/sys/fs/cgroup"}, V1: map[string]Hierarchy{}},
			full:   true,
		},
		{
			name: "hybrid",
			mounts: "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n" +
				"35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n" +
				"39 31 0:36 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n" +
				"40 31 0:37 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,name=systemd\n" +
				"41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n",
			self: "9:pids:/\n4:memory:/job/1\n1:cpu,cpuacct:/\n0::/\n",
			want: Layout{
				Unified: Hierarchy{"/sys/fs/cgroup/unified", "/sys/fs/cgroup/unified"},
				V1: map[string]Hierarchy{
					"cpu":    {"/sys/fs/cgroup/cpu,cpuacct", "/sys/fs/cgroup/cpu,cpuacct"},
					"memory": {"/sys/fs/cgroup/memory", "/sys/fs/cgroup/memory/job/1"},
					"pids":   {"/sys/fs/cgroup/pids", "/sys/fs/cgroup/pids"},
				},
				Others: []string{"/sys/fs/cgroup/systemd"},
			},
		},
		{name: "v1 only", mounts: "", self: "", want: Layout{V1: map[string]Hierarchy{}}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := ReadLayout(strings.NewReader(c.mounts), strings.NewReader(c.self))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			if got.Full() != c.full {
				t.Errorf("full is %t", got.Full())
			}
		})
	}
	if _, err := ReadLayout(strings.NewReader(""), strings.NewReader("nonsense\n")); err == nil {
		t.Error("nonsense is accepted")
	}
}
