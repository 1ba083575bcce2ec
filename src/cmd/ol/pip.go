package main

import (
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/open-lambda/open-lambda/sock"
	"github.com/open-lambda/open-lambda/worker/packages"
)

// pipIndex is this machine's own configuration of pip, for installers that are
// given no pip_mirror: their sandboxes see neither environment nor /etc.
func pipIndex(env []string) packages.Index {
	index := packages.Index{Env: map[string]string{}}
	var home, own string
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		switch {
		case name == "PIP_CONFIG_FILE":
			own = value
		case name == "HOME":
			home = value
		case passedToPip(name):
			index.Env[name] = value
		}
	}
	files := []string{own, filepath.Join(home, ".config/pip/pip.conf"), filepath.Join(home, ".pip/pip.conf"), "/etc/pip.conf"}
	for _, path := range files {
		if text, err := os.ReadFile(path); err == nil {
			index.Conf = text
			break
		}
	}
	return index
}

// passedToPip names what says where packages come from, and nothing else of pip.
func passedToPip(name string) bool {
	switch strings.ToUpper(name) {
	case "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_TRUSTED_HOST", "PIP_NO_INDEX", "PIP_CERT", "PIP_PROXY",
		"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY":
		return true
	}
	return false
}

// installerNetwork is what installers get where lambdas have a network: nat as
// well, unless the index is on this machine, which nat does not lead to.
func installerNetwork(lambdas, mirror string) string {
	u, err := url.Parse(mirror)
	if lambdas != sock.NetworkNAT || err != nil || isOwn(u.Hostname()) {
		return sock.NetworkHost
	}
	return sock.NetworkNAT
}

// isOwn tells whether a host name or address is obviously this machine's.
func isOwn(host string) bool {
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	if ip == nil {
		return false
	}
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return ip.IsLoopback()
	}
	for _, a := range addrs {
		if n, ok := a.(*net.IPNet); ok && n.IP.Equal(ip) {
			return true
		}
	}
	return ip.IsLoopback()
}
