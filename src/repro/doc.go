// Package repro reproduces the tables and figures of the CIDRE paper (ASPLOS
// 2025) in simulation and says which of its claims hold.
//
// A Figure names the simulations that it needs (Point), draws itself from their
// results (Data), and declares its claims beside the drawing. Claims are taken from
// the paper and judged by rule alone: an amount, a gap between two things, an
// order, or that two things are the same. Amounts and gaps have one tolerance (see
// tolerance and near); only the margins of what is the same (see within) are said one
// by one. A claim says in words what is judged. Nothing is fitted here. A workload
// that was calibrated to some of the paper's figures says so, and what is claimed of
// those only is FITTED, not PASS.
//
// Intervals are over seeds. What no seed changes is measured once and has none; with
// one seed nothing that needs an interval passes.
//
// Points are shared: figures that need the same simulation run it once, and a
// finished one is kept in a file (Cells), so that an interrupted run goes on where
// it was and a repeated one costs nothing. A file counts only for the program
// that wrote it, and for the content of the trace that it was measured on.
//
// A directory of results gathers what several runs wrote (Gather), one at a time
// (Hold). Each figure in it says on what it was made (Section), and figures that were
// not made alike are said to be a mixture.
//
// Invariants: equal programs, scenes and seeds give equal results, whatever the
// order in which points end; a claim that fails stays FAIL; the paper's values
// come from the embedded files alone.
package repro
