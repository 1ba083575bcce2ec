package config

import (
	"bufio"
	"fmt"
	"os"
	"strings"
)

// MachineMB returns the machine's memory in MB, as /proc/meminfo tells it.
func MachineMB() (int, error) {
	f, err := os.Open("/proc/meminfo")
	if err != nil {
		return 0, fmt.Errorf("read memory size: %w", err)
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if rest, ok := strings.CutPrefix(s.Text(), "MemTotal:"); ok {
			var kb int
			if _, err := fmt.Sscan(rest, &kb); err != nil {
				return 0, fmt.Errorf("read memory size: %w", err)
			}
			return kb / 1024, nil
		}
	}
	return 0, fmt.Errorf("read memory size: no MemTotal in %s", f.Name())
}
