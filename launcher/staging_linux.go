package launcher

import (
	"errors"
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"

	"github.com/sbx-run/sbx/bwrap"
	"github.com/sbx-run/sbx/launcher/stage"
	"github.com/sbx-run/sbx/policy"
)

// openOrStage opens what a layout shows, and starts to build what is better
// built beside bubblewrap. Where this machine does not let us, bubblewrap makes
// everything, in more time, unless something is out of its reach.
func openOrStage(layout bwrap.Layout) (sources, bwrap.Stage, *stage.Builder, error) {
	far, err := outOfReach(layout)
	if err != nil {
		return nil, bwrap.Stage{}, nil, &SetupError{Step: "open", Reason: err.Error()}
	}
	var divided bwrap.Stage
	if len(far) > 0 || bwrap.Worth(layout) {
		divided = bwrap.NewStage(layout)
	}
	if i := far.firstOutside(divided); i >= 0 {
		return nil, bwrap.Stage{}, nil, closedError(layout.Mounts[i].Path)
	}
	if len(divided.Mounts) > 0 {
		opened, err := openSources(layout, divided)
		if err != nil {
			return nil, bwrap.Stage{}, nil, err
		}
		opened.mark(far)
		builder, err := stage.Start(stageOrders(layout, divided, opened))
		if err == nil {
			return opened, divided, builder, nil
		}
		opened.Close()
		if layout.PinsLinks() {
			return nil, bwrap.Stage{}, nil, stageError(err)
		}
	}
	if i := far.firstOutside(bwrap.Stage{}); i >= 0 {
		return nil, bwrap.Stage{}, nil, closedError(layout.Mounts[i].Path)
	}
	opened, err := openSources(layout, bwrap.Stage{})
	return opened, bwrap.Stage{}, nil, err
}

// PinsLinks reports whether a run with this layout can make mount points of
// its links: platform.Request asks for it. A builder tries and ends again.
func PinsLinks(layout bwrap.Layout) bool {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	divided := bwrap.NewStage(layout)
	orders := stage.Orders{Points: divided.Points, Steps: []stage.Step{{Op: stage.PinLink}}}
	if divided.Root >= 0 {
		root, err := openSource(layout.Mounts[divided.Root])
		if err != nil {
			return false
		}
		orders.Root = root.Identity
		root.file.Close()
	}
	builder, err := stage.Start(orders, nil)
	if err != nil {
		return false
	}
	builder.Close()
	return true
}

// stageOrders words the staged part for the builder, with the files that it
// is to copy.
func stageOrders(layout bwrap.Layout, divided bwrap.Stage, opened sources) (stage.Orders, []*os.File) {
	orders := stage.Orders{Points: divided.Points, Sites: divided.Sites}
	if divided.Root >= 0 {
		orders.Root = opened[divided.Root].Identity
	}
	var files []*os.File
	for _, held := range divided.Mounts {
		m := layout.Mounts[held.Index]
		step := stage.Step{Op: stageOps[m.Op], Path: m.Path, In: held.In, Target: m.Target, Size: m.Size, Dir: stagesDir(m),
			Shown: opened[held.Index].Identity, Far: opened[held.Index].far || m.Op == bwrap.PinLink} // nobody inside can look at a link as a mount
		if m.Op == bwrap.Copy {
			step.Source = len(files)
			files = append(files, opened[held.Index].file)
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
	bwrap.PinLink:  stage.PinLink,
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
		if f.Errno == unix.EACCES {
			return closedError(f.Path)
		}
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
