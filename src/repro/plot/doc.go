// Package plot draws the charts of reproduced figures: lines, distribution
// functions and bars, as SVG and PNG.
//
// A reader must tell series apart in colour, in grey and when colour-blind: each
// Style has a colour of the Okabe-Ito palette, a dash and a mark. Values of the
// paper are hollow marks, our own are filled. The legend stands below the
// axes, so it never covers data, and charts are narrow enough for a phone.
//
// Invariants: the same Chart gives the same bytes; drawing changes no Chart; a
// value that is not a number is not drawn.
package plot
