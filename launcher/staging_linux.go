package launcher

import (
	"errors"
	"fmt"
	"os"

	"github.com/sbx-run/sbx/bwrap"
	"github.com/sbx-run/sbx/launcher/stage"
	"github.com/sbx-run/sbx/policy"
)

// startStage starts to build what is better built beside bubblewrap. Where
// this machine does not let us, bubblewrap makes everything, in more time.
func startStage(layout bwrap.Layout, opened sources) (bwrap.Stage, *stage.Builder) {
	if !bwrap.Worth(layout) {
		return bwrap.Stage{}, nil
	}
	divided := bwrap.NewStage(layout)
	if len(divided.Mounts) == 0 {
		return divided, nil
	}
	orders, files := stageOrders(layout, divided, opened)
	builder, err := stage.Start(orders, files)
	if err != nil {
		return bwrap.Stage{}, nil
	}
	return divided, builder
}

// stageOrders words the staged part for the builder, with the files that it
// is about.
func stageOrders(layout bwrap.Layout, divided bwrap.Stage, opened sources) (stage.Orders, []*os.File) {
	orders := stage.Orders{Points: divided.Points, Root: -1, Sites: divided.Sites}
	var files []*os.File
	pass := func(i int) int {
		files = append(files, opened[i].file)
		return len(files) - 1
	}
	if divided.Root >= 0 {
		orders.Root = pass(divided.Root)
	}
	for _, held := range divided.Mounts {
		m := layout.Mounts[held.Index]
		step := stage.Step{Op: stageOps[m.Op], Path: m.Path, In: held.In, Target: m.Target, Size: m.Size, Dir: stagesDir(m)}
		if m.Op.FromHost() {
			step.Source = pass(held.Index)
		}
		orders.Steps = append(orders.Steps, step)
	}
	return orders, files
}

// stageOps names the operations that can be staged as the builder does.
var stageOps = map[bwrap.Op]stage.Op{
	bwrap.ROBind:   stage.ShowRO,
	bwrap.Bind:     stage.ShowRW,
	bwrap.Pin:      stage.ShowRW,
	bwrap.Copy:     stage.Copy,
	bwrap.Symlink:  stage.Symlink,
	bwrap.Tmpfs:    stage.Tmpfs,
	bwrap.MaskDir:  stage.MaskDir,
	bwrap.MaskFile: stage.MaskFile,
}

func stagesDir(m bwrap.Mount) bool {
	return m.Type == policy.TypeDir || m.Op == bwrap.Tmpfs || m.Op == bwrap.MaskDir || m.Op == bwrap.Pin
}

// unstaged returns the sources of bubblewrap's own part.
func (s sources) unstaged(divided bwrap.Stage) sources {
	own := make(sources, len(s))
	for i, src := range s {
		if !divided.Holds(i) {
			own[i] = src
		}
	}
	return own
}

// stageError words why the trees did not come.
func stageError(err error) error {
	var f *stage.Failure
	if errors.As(err, &f) {
		reason := f.Text
		if f.Errno != 0 {
			reason = sourceReason(f.Errno)
		}
		return &SetupError{Step: "mount", Path: f.Path, Reason: reason}
	}
	return &SetupError{Step: "mount", Reason: err.Error()}
}

// tooManyMounts is the error for what bubblewrap cannot be told.
func tooManyMounts(args int) error {
	return &SetupError{
		Step: "bwrap",
		Reason: fmt.Sprintf("the policy takes %d arguments and bubblewrap takes %d; this machine does not let sbx mount anything itself",
			args, bwrap.MaxArgs),
		Advice: "grant or deny whole directories, or use Linux 5.12 or later with user namespaces",
	}
}
