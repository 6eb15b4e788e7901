package config

import (
	"io"
	"os"
	"strings"
)

// goSettings reads what go env -w has set, which counts where the variable
// itself is not: it may say where the module cache is.
func goSettings(host Host) map[string]string {
	file, ok := host.lookup("GOENV")
	if !ok || file == "" {
		file = join(host.Places.Home, ".config/go/env")
	}
	settings := map[string]string{}
	if host.Places.Home == "" || !isRegular(file) {
		return settings
	}
	f, err := os.Open(file)
	if err != nil {
		return settings
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxBytes))
	if err != nil {
		return settings
	}
	for line := range strings.Lines(string(data)) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok && !strings.HasPrefix(name, "#") {
			settings[name] = value
		}
	}
	return settings
}

// isRegular keeps reads from blocking on a pipe.
func isRegular(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode().IsRegular()
}
