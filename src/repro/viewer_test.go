package repro

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/open-lambda/open-lambda/src/replay/timeline"
)

// viewerPage shows a trace in the viewer of chrome://tracing, which the Go toolchain has as
// well. Its elements are those of the viewer's own description of how to embed it.
const viewerPage = `<!doctype html><script src="/static/webcomponents.min.js"></script>
<link rel="import" href="/static/trace_viewer_full.html"><style>html, body, #viewer { width: 100%; height: 100%; margin: 0 }</style>
<script>
document.addEventListener("WebComponentsReady", async () => {
	try {
		const container = document.createElement("track-view-container");
		container.id = "track_view_container";
		const viewer = document.createElement("tr-ui-timeline-view");
		viewer.track_view_container = container;
		Polymer.dom(viewer).appendChild(container);
		viewer.id = "viewer";
		Polymer.dom(document.body).appendChild(viewer);
		const text = await (await fetch("/trace")).text();
		const model = new tr.Model();
		await new tr.importer.Import(model, new tr.importer.ImportOptions()).importTracesWithProgressDialog([text]);
		viewer.model = model;
		const read = {Warnings: model.importWarnings.map(w => w.message), Slices: 0, Waits: 0, Processes: [], Threads: []};
		for (const p of Object.values(model.processes)) {
			read.Processes.push(p.name);
			for (const t of Object.values(p.threads)) {
				read.Threads.push(t.name);
				read.Slices += t.sliceGroup.slices.length;
				read.Waits += t.asyncSliceGroup.slices.length;
			}
		}
		window.readModel = read;
	} catch (e) { window.readModel = {Warnings: ["" + e]}; }
});
</script><body></body>`

// viewed is what the viewer understood.
type viewed struct {
	Warnings, Processes, Threads []string
	Slices, Waits                int
}

// viewer serves the viewer with a trace.
func viewer(t *testing.T, text []byte) string {
	t.Helper()
	root, err := exec.Command("go", "env", "GOROOT").Output()
	static := filepath.Join(strings.TrimSpace(string(root)), "src", "internal", "trace", "traceviewer", "static")
	if err == nil {
		_, err = os.Stat(filepath.Join(static, "trace_viewer_full.html"))
	}
	if err != nil {
		t.Skipf("SKIPPED, no viewer looks at the trace: the Go toolchain here has none: %v", err)
	}
	mux := http.NewServeMux()
	mux.Handle("/static/", http.StripPrefix("/static/", http.FileServer(http.Dir(static))))
	mux.HandleFunc("/trace", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(text) })
	mux.HandleFunc("/{$}", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(viewerPage)) })
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s.URL
}

// The viewer that chrome://tracing is understands a trace of real sandboxes: every slice,
// every wait, all names, no warning.
func TestTraceInTheViewer(t *testing.T) {
	b, err := openBurst("cidre")
	if err != nil {
		t.Fatal(err)
	}
	text := chromeText(t, b.kept.Tracks())
	if path := os.Getenv("REPRO_TRACE"); path != "" { // a real one, for people to look at
		if text, err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
	}
	want := inFile(t, text)
	ctx, _ := browser(t)
	got := view(ctx, t, viewer(t, text))
	if len(got.Warnings) > 0 || got.Slices != want.Slices || got.Waits != want.Waits || len(got.Processes) != len(want.Processes) || len(got.Threads) < len(want.Threads) {
		t.Errorf("the viewer has %+v, in the file are %+v", got, want)
	}
	screenshot(ctx, t, "trace.png")
}

func chromeText(t *testing.T, tracks []*timeline.Track) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := timeline.WriteChrome(&out, tracks); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// view opens the viewer and waits until it has read the trace.
func view(ctx context.Context, t *testing.T, url string) viewed {
	t.Helper()
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(1280, 800), chromedp.Navigate(url)); err != nil {
		t.Fatal(err)
	}
	got, err := chromedp.Run(ctx, chromedp.Poll[viewed](`window.readModel`, chromedp.WithPollingTimeout(browserLimit)))
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// inFile counts what a file holds.
func inFile(t *testing.T, text []byte) viewed {
	t.Helper()
	var f struct {
		TraceEvents []struct {
			Name, Ph string
		}
	}
	if err := json.Unmarshal(text, &f); err != nil {
		t.Fatal(err)
	}
	var v viewed
	for _, e := range f.TraceEvents {
		switch {
		case e.Ph == "X", e.Ph == "i": // the viewer makes slices of instants
			v.Slices++
		case e.Ph == "b":
			v.Waits++
		case e.Name == "process_name":
			v.Processes = append(v.Processes, e.Name)
		case e.Name == "thread_name":
			v.Threads = append(v.Threads, e.Name)
		}
	}
	return v
}
