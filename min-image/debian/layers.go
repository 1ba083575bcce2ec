package debian

import (
	"fmt"
	"slices"
	"strings"
)

// Layer is what an image holds. Layers build on each other in the order of
// Layers: each has all that those before it have.
type Layer struct {
	Name     string
	Holds    string   // for humans
	Packages []string // what it adds; their dependencies come along
	Probe    string   // modules that prove that it works, separated by ", "
}

// DefaultLayer is what a base image holds unless more is asked for.
const DefaultLayer = "min"

// Layers lists all layers, each with what it adds to the one before.
// dash is there for /bin/sh, which subprocess and os.system use.
func Layers() []Layer {
	return []Layer{
		{
			"min", "Python with its standard library",
			[]string{"ca-certificates", "dash", "python3", "python3-pip-whl"},
			"ctypes, json, sqlite3, ssl, zlib, lzma, bz2, hashlib",
		},
		{
			"web", "flask, fastapi, jinja2",
			[]string{"python3-fastapi", "python3-flask", "python3-jinja2"},
			"flask, fastapi, jinja2",
		},
		{
			"sci", "numpy, pandas, scipy, scikit-learn, PIL",
			[]string{"python3-numpy", "python3-pandas", "python3-pil", "python3-sklearn"},
			"numpy.linalg, pandas, scipy.optimize, sklearn.linear_model, PIL.Image",
		},
		{
			"cv", "OpenCV with its models of faces",
			[]string{"opencv-data", "python3-opencv"},
			"cv2",
		},
	}
}

// upTo returns the layers that make the named one.
func upTo(name string) ([]Layer, error) {
	layers := Layers()
	i := slices.IndexFunc(layers, func(l Layer) bool { return l.Name == name })
	if i < 0 {
		return nil, fmt.Errorf("find layer %q: there are %s", name, strings.Join(LayerNames(), ", "))
	}
	return layers[:i+1], nil
}

// LayerNames lists the names of all layers.
func LayerNames() []string {
	var names []string
	for _, l := range Layers() {
		names = append(names, l.Name)
	}
	return names
}

func rootsOf(layers []Layer) []string {
	var roots []string
	for _, l := range layers {
		roots = append(roots, l.Packages...)
	}
	return roots
}

func probeOf(layers []Layer) string {
	var modules []string
	for _, l := range layers {
		modules = append(modules, l.Probe)
	}
	return "import " + strings.Join(modules, ", ")
}
