# Everything is built without cgo: one static file that runs anywhere.
export CGO_ENABLED := 0

GO      ?= go
BIN     := bin/sbx
LDFLAGS := -s -w
# On Linux the stub is entered before the Go runtime starts: see launcher/stub.
ENTRY   := -E github.com/sbx-run/sbx/launcher/stub.entry
ifeq ($(shell $(GO) env GOOS),linux)
LDFLAGS += $(ENTRY)
endif
ifdef VERSION
LDFLAGS += -X main.version=$(VERSION)
endif

.PHONY: all build run test test-nobody race lint bench cover xbuild golden clean

all: lint test

build: $(BIN)

$(BIN): $(shell find . -name '*.go') go.mod go.sum
	$(GO) build -trimpath -ldflags '$(LDFLAGS)' -o $@ ./cmd/sbx

# The two commands that a newcomer needs: "make run" and "make test".
run: bubblewrap build
	@echo '--- this repository, built inside its own sandbox with the network off:'
	$(BIN) run --rw . --preset go -- go build ./...
	@echo '--- what that command saw:'
	$(BIN) policy show --rw . --preset go

.PHONY: bubblewrap
bubblewrap:
	@.ci/bubblewrap

# Tests run for real, as the caller and, for root, again as an unprivileged
# user. SBX_MUST_WORK=1 turns a skipped kernel test into a failure.
test: build
	SBX_BINARY=$(abspath $(BIN)) $(GO) test ./...
	@if [ "$$(id -u)" = 0 ]; then $(MAKE) --no-print-directory test-nobody; fi

test-nobody: build
	.ci/as-nobody $(abspath $(BIN))

# The escape suite with its table: every attack, by backend and user.
PROBE := bin/escape-probe

$(PROBE): $(wildcard testdata/escape/probe/*)
	$(GO) build -trimpath -o $@ ./testdata/escape/probe

.PHONY: escape
escape: build $(PROBE)
	@SBX_BINARY=$(abspath $(BIN)) SBX_PROBE=$(abspath $(PROBE)) SBX_ESCAPE_TABLE=$(abspath bin/escape.txt) \
		$(GO) test -count=1 -run '^TestEscape' ./cmd/sbx; status=$$?; cat bin/escape.txt; exit $$status
	@if [ "$$(id -u)" = 0 ]; then .ci/as-nobody $(abspath $(BIN)) ./cmd/sbx '^TestEscape'; fi

race:
	CGO_ENABLED=1 $(GO) test -race ./...

lint:
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); [ -z "$$unformatted" ] || { echo "gofmt: $$unformatted"; exit 1; }
	$(GO) vet ./... ./testdata/escape/probe
	GOOS=darwin GOARCH=arm64 $(GO) vet ./...
	GOOS=darwin GOARCH=amd64 $(GO) vet -tags maccheck ./...
	$(GO) mod tidy -diff
	@.ci/boundaries

bench: build
	SBX_BINARY=$(abspath $(BIN)) $(GO) test -run "^$$" -bench . -benchtime 1x ./cmd/sbx ./policy

cover:
	$(GO) test -coverprofile=cover.out -coverpkg=./... ./...
	$(GO) tool cover -func=cover.out | tail -1

# For a person with a Mac: a minute that answers what no Linux machine can. See
# docs/macos.md.
.PHONY: mac-check
mac-check: build
	SBX_BINARY=$(abspath $(BIN)) $(GO) test -tags maccheck -count=1 -timeout 5m -v -run '^TestMac' ./seatbelt ./platform ./launcher ./cmd/sbx

xbuild:
	@for target in linux/amd64 linux/arm64 darwin/amd64 darwin/arm64; do \
		echo "build $$target"; \
		case $$target in linux/*) entry='$(ENTRY)' ;; *) entry= ;; esac; \
		GOOS=$${target%/*} GOARCH=$${target#*/} $(GO) build -trimpath -ldflags "$$entry" -o /dev/null ./cmd/sbx || exit 1; \
	done

golden:
	$(GO) test ./bwrap ./seatbelt ./platform/seccomp -update

clean:
	rm -rf bin cover.out
