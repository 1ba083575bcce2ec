package packages

import (
	"net/url"
	"os"
	"path/filepath"

	"github.com/open-lambda/open-lambda/worker/sandbox"
)

// Index says where pip finds packages.
type Index struct {
	// Mirror is the URL of a simple index; "" leaves it to Env and Conf.
	Mirror string
	// Env are variables for pip (PIP_INDEX_URL and the like, proxies).
	Env map[string]string
	// Conf is the text of a pip.conf; nil is none.
	Conf []byte
}

// Files and directories of an installer besides filesDir.
const (
	workDir = "tmp"
	pipConf = "pip.conf"
)

// inside is a path in the installer's sandbox.
func inside(name string) string { return filepath.Join(sandbox.JobDir, name) }

// pipArgs is what pip is called with to install one package. Retries and
// timeout keep the answer about a dead index below half a minute.
func (x Index) pipArgs(spec string) []string {
	args := []string{
		"install", "--no-deps", "--target", inside(filesDir), "--no-cache-dir", "--disable-pip-version-check", "--no-input",
		"--no-color", "--progress-bar", "off", "--retries", "2", "--timeout", "10",
	}
	if x.Mirror != "" {
		args = append(args, "--index-url", x.Mirror)
		if u, err := url.Parse(x.Mirror); err == nil && u.Scheme == "http" {
			args = append(args, "--trusted-host", u.Host)
		}
	}
	return append(args, "--", spec)
}

// pipEnv is the environment that pip runs in.
func (x Index) pipEnv() map[string]string {
	env := map[string]string{
		"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": inside(workDir), "TMPDIR": inside(workDir),
	}
	if x.Mirror != "" {
		env["PIP_CONFIG_FILE"] = os.DevNull
		return env
	}
	for name, value := range x.Env {
		env[name] = value
	}
	if x.Conf != nil {
		env["PIP_CONFIG_FILE"] = inside(pipConf)
	}
	return env
}

// writeConf puts the pip.conf where the installer finds it.
func (x Index) writeConf(stage string) error {
	if x.Mirror != "" || x.Conf == nil {
		return nil
	}
	return os.WriteFile(filepath.Join(stage, pipConf), x.Conf, 0o644)
}
