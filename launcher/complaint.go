package launcher

import (
	"regexp"
	"strings"
)

// subject is what a complaint of a program is about.
type subject uint8

const (
	readOnly    subject = iota // a write to what is mounted read-only
	refused                    // a permission
	missing                    // a file that is not there: hidden ones are not
	busy                       // renaming or removing a mount point
	space                      // a full file system
	network                    // a host
	forking                    // a process or thread
	descriptors                // an open file
	allocating                 // memory
	growing                    // the size of a file
)

// complaints are the words of strerror(3), of shells and of language runtimes
// for the errors that a boundary causes, in lower case. The first match of a
// line counts.
var complaints = []struct {
	about   subject
	phrases []string
}{
	{readOnly, []string{"read-only file system", "erofs"}},
	{network, []string{"network is unreachable", "enetunreach", "could not resolve", "couldn't resolve", "name resolution", "name or service not known",
		"eai_again", "enotfound", "no such host", "address family not supported", "eafnosupport", "couldn't connect to server", "unable to look up"}},
	{space, []string{"no space left on device", "enospc", "disk quota exceeded"}},
	{forking, []string{"cannot fork", "can't fork", "fork: ", "resource temporarily unavailable", "eagain", "can't start new thread", "pthread_create"}},
	{descriptors, []string{"too many open files", "emfile"}},
	{allocating, []string{"cannot allocate memory", "out of memory", "memoryerror", "enomem"}},
	{growing, []string{"file too large", "efbig", "file size limit exceeded"}},
	{busy, []string{"device or resource busy", "ebusy"}},
	{refused, []string{"permission denied", "operation not permitted", "eacces", "eperm", "access denied"}},
	{missing, []string{"no such file", "directory nonexistent", "enoent", "not found", "does not exist"}},
}

// writingWords stand in messages about changes.
var writingWords = []string{"create", "creating", "creation", "touch", "mkdir", "remov", "unlink", "delet", "renam", "move", "moving", "writ", "append", "truncat", "chmod", "chown", "link", "install", "save", "saving"}

func writes(lower string) bool {
	_, at := find(lower, writingWords)
	return at >= 0
}

var quotedText = regexp.MustCompile("'([^']+)'|\"([^\"]+)\"|‘([^’]+)’|“([^”]+)”|`([^'`]+)['`]")

// pathsIn finds what can be a path in a message whose complaint stands at
// line[from:to]: what is quoted, what starts like a path, and the word right
// before or after the complaint ("cat: notes.txt: Permission denied").
func pathsIn(line string, from, to int) (paths []string) {
	add := func(p string) {
		p = strings.Trim(p, " :,;()[]<>'\"`‘’“”")
		if p != "" && !strings.ContainsAny(p, "\x00\n*?") && len(p) < 4096 {
			for _, known := range paths {
				if known == p {
					return
				}
			}
			paths = append(paths, p)
		}
	}
	for _, m := range quotedText.FindAllStringSubmatch(line, -1) {
		for _, text := range m[1:] {
			add(text)
		}
	}
	rest := quotedText.ReplaceAllString(line, " ")
	for i, word := range strings.Fields(rest) {
		word = strings.TrimLeft(word, "(<[")
		if i == 0 && strings.HasSuffix(word, ":") && strings.Count(line[:from], ": ") > 1 {
			continue // the program that complains
		}
		if strings.HasPrefix(word, "/") || strings.HasPrefix(word, "./") || strings.HasPrefix(word, "../") {
			add(word)
		}
	}
	if len(paths) > 0 {
		return paths
	}
	before := strings.TrimRight(line[:from], " :(")
	if i := strings.LastIndex(before, ": "); i >= 0 {
		before = before[i+2:]
		if words := strings.Fields(before); len(words) > 0 && strings.Contains(line[:from], ": ") {
			add(words[len(words)-1])
		}
	}
	if after, ok := strings.CutPrefix(line[to:], ": "); ok {
		add(after)
	}
	return paths
}
