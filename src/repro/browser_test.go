package repro

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// browserLimit is generous: a browser on a busy machine is slow to start.
const browserLimit = 3 * time.Minute

// browser opens a tab and returns what it complains of.
func browser(t *testing.T) (context.Context, *complaints) {
	t.Helper()
	program := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if path, err := exec.LookPath(name); err == nil {
			program = path
			break
		}
	}
	if program == "" {
		t.Skip("SKIPPED, the page is not looked at: no chromium or google-chrome here (apt-get install chromium)")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.NoSandbox)
	ctx, cancel := context.WithTimeout(t.Context(), browserLimit)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	c := &complaints{}
	if err := errors.Join(chromedp.Do(ctx), chromedp.Listen(ctx, c.event)); err != nil {
		t.Fatalf("start %s: %v", program, err)
	}
	_, logs := chromedp.Call(ctx, log.Enable, cdp.Empty{})
	_, loads := chromedp.Call(ctx, network.Enable, network.EnableParams{})
	if err := errors.Join(logs, loads); err != nil {
		t.Fatal(err)
	}
	return ctx, c
}

// complaints are what a browser says against a page.
type complaints struct {
	mu  sync.Mutex // of what follows
	all []string
}

func (c *complaints) event(event any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		c.all = append(c.all, "exception: "+e.ExceptionDetails.Text)
	case *runtime.EventConsoleAPICalled:
		c.all = append(c.all, fmt.Sprintf("console: %v", e.Type))
	case *log.EventEntryAdded:
		c.all = append(c.all, "log: "+e.Entry.Text)
	case *network.EventLoadingFailed:
		c.all = append(c.all, "not loaded: "+e.ErrorText)
	}
}

// take returns what there was since the last time.
func (c *complaints) take() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := c.all
	c.all = nil
	return all
}

// screenshot keeps a picture where REPRO_SCREENSHOTS says, for people to look at.
func screenshot(ctx context.Context, t *testing.T, name string) {
	t.Helper()
	dir := os.Getenv("REPRO_SCREENSHOTS")
	if dir == "" {
		return
	}
	img, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), img, 0o644); err != nil {
		t.Fatal(err)
	}
}

// looked is what a browser says of a page.
type looked struct {
	Width, Window float64 // of the page and of the window
	Wide          []string
	Broken        []string // pictures that do not show
	Charts        int
	Sections      int
}

const look = `(() => {
	const r = {Width: document.documentElement.scrollWidth, Window: innerWidth, Wide: [], Broken: [], Charts: 0, Sections: document.querySelectorAll("section").length};
	for (const e of document.querySelectorAll("body *")) {
		if (!e.closest(".scroll") && !e.closest("svg") && e.getBoundingClientRect().right > innerWidth + 1) r.Wide.push(e.tagName + " " + e.className + " " + e.textContent.trim().slice(0, 40));
	}
	for (const e of document.querySelectorAll(".chart svg")) {
		const box = e.getBoundingClientRect();
		r.Charts++;
		if (box.width < 100 || box.height < 50 || e.querySelectorAll("path, text").length < 5) r.Broken.push(e.parentElement.getAttribute("aria-label"));
	}
	for (const e of document.images) if (!e.complete || e.naturalWidth == 0) r.Broken.push(e.src);
	r.Wide = r.Wide.slice(0, 5);
	return r;
})()`

// The page opens from disk in a phone's and in a desktop's width: nothing is wider than
// the window, every chart shows, and the browser does not complain.
func TestPageInABrowser(t *testing.T) {
	ctx, complaints := browser(t)
	s := QuickScene()
	s.Seeds = Seeds(2)
	d := invented(s)
	all, err := Reproduce(Figures(), d)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if path := os.Getenv("REPRO_RESULTS"); path != "" {
		dir = path // real results, for people to look at
	} else if err := Write(dir, all, d); err != nil {
		t.Fatal(err)
	}
	for _, width := range []int64{360, 1280} {
		got := open(ctx, t, filepath.Join(dir, "index.html"), width)
		if got.Window != float64(width) || got.Width > got.Window || len(got.Wide) > 0 {
			t.Errorf("in a window of %v the page is %v wide: %q", got.Window, got.Width, got.Wide)
		}
		if len(got.Broken) > 0 || got.Charts < 20 || got.Sections < 20 {
			t.Errorf("at %d: %d sections, %d charts, of which do not show %q", width, got.Sections, got.Charts, got.Broken)
		}
		screenshot(ctx, t, fmt.Sprintf("page-%d.png", width))
		if _, err := chromedp.Run(ctx, chromedp.Evaluate[any](`document.querySelector("#fig12").scrollIntoView(), 1`)); err != nil {
			t.Fatal(err)
		}
		screenshot(ctx, t, fmt.Sprintf("page-%d-fig12.png", width))
	}
	if c := complaints.take(); len(c) > 0 {
		t.Errorf("the browser complains: %q", c)
	}
}

// open opens a file in a window and looks at it.
func open(ctx context.Context, t *testing.T, path string, width int64) looked {
	t.Helper()
	err := chromedp.Do(ctx, chromedp.EmulateViewport(width, 800), chromedp.Navigate((&url.URL{Scheme: "file", Path: path}).String()))
	if err != nil {
		t.Fatal(err)
	}
	got, err := chromedp.Run(ctx, chromedp.Evaluate[looked](look))
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// The look finds what is wrong with a page that is wrong.
func TestBrowserComplains(t *testing.T) {
	ctx, complaints := browser(t)
	path := filepath.Join(t.TempDir(), "bad.html")
	bad := `<!doctype html><p style="width: 700px">wide</p><img src="nothing.png"><div class="chart" aria-label="empty"><svg width="9"></svg></div><script>console.error("no"); nothing()</script>`
	if err := os.WriteFile(path, []byte(bad), 0o600); err != nil {
		t.Fatal(err)
	}
	got := open(ctx, t, path, 360)
	if got.Width <= got.Window || len(got.Wide) == 0 || len(got.Broken) != 2 {
		t.Errorf("%+v", got)
	}
	all := strings.Join(complaints.take(), "; ")
	for _, want := range []string{"exception: ", "console: error", "not loaded: "} {
		if !strings.Contains(all, want) {
			t.Errorf("no %q in %q", want, all)
		}
	}
}
