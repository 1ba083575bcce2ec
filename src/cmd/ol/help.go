package main

import (
	"bytes"
	"io"
	"strings"
)

// helpWidth is what a terminal has at least, columns.
const helpWidth = 80

// helpWriter breaks the lines of a help text that are longer than helpWidth.
// What is between two of its calls has no end yet.
type helpWriter struct {
	to   io.Writer
	part []byte // of a line that has not ended
}

// Write passes on the lines that are complete.
func (w *helpWriter) Write(p []byte) (int, error) {
	w.part = append(w.part, p...)
	for {
		i := bytes.IndexByte(w.part, '\n')
		if i < 0 {
			return len(p), nil
		}
		line := string(w.part[:i])
		w.part = w.part[i+1:]
		if _, err := io.WriteString(w.to, foldLine(line)+"\n"); err != nil {
			return 0, err
		}
	}
}

// foldLine breaks one line. The first column of a table stays where it is, and
// the second goes on below its own beginning, or below the first if that has
// taken half of the line.
func foldLine(line string) string {
	if len(line) <= helpWidth {
		return line
	}
	indent := len(line) - len(strings.TrimLeft(line, " "))
	head, text := "", line
	if i := strings.LastIndex(line, "  "); i > indent {
		head, text = line[:i+2], line[i+2:]
	}
	if len(head) > helpWidth/2 {
		head = strings.TrimRight(head, " ") + "\n" + strings.Repeat(" ", indent+6)
	}
	margin := len(head) - strings.LastIndex(head, "\n") - 1
	if head == "" {
		margin = indent
		head, text = line[:indent], line[indent:]
	}
	return head + foldText(text, margin)
}

// foldText breaks a text that begins in column margin at its spaces, and a word
// that is longer than a line behind its commas.
func foldText(text string, margin int) string {
	var b strings.Builder
	column := margin
	for i, word := range pieces(text, helpWidth-margin) {
		switch {
		case i == 0:
		case column+1+len(word) > helpWidth:
			b.WriteString("\n" + strings.Repeat(" ", margin))
			column = margin
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += len(word)
	}
	return b.String()
}

// pieces are the words of a text, the long ones cut behind a comma.
func pieces(text string, most int) []string {
	var out []string
	for _, word := range strings.Fields(text) {
		for len(word) > most {
			i := strings.LastIndexByte(word[:most], ',')
			if i < 0 {
				break
			}
			out, word = append(out, word[:i+1]), word[i+1:]
		}
		out = append(out, word)
	}
	return out
}
