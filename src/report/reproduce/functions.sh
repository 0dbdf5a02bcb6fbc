
set -u
unset CDPATH
# A git variable in the environment could send git to another repository.
for name in $(env | sed -n 's/^\(GIT_[A-Za-z0-9_]*\)=.*/\1/p'); do unset "$name"; done

say() { printf '%s\n' "$*" >&2; }

# Runs no hooks and no file monitor of the clone, and ignores `git replace`.
repo_git() {
  git --no-replace-objects -C "$repo" -c core.hooksPath=/dev/null -c core.fsmonitor=false "$@"
}

finish() {
  status=$?
  trap - EXIT
  if [ -n "$work" ]; then
    for tree in "$work"/1/src "$work"/2/src; do
      [ ! -e "$tree" ] || repo_git worktree remove --force "$tree"
    done
    rm -rf "$work"
  fi
  exit "$status"
}

# Links a path of the clone's checkout that is not in git and that the commands need.
link_in() {
  if [ -z "$top" ] || [ ! -e "$top/$1" ]; then
    say "warning: $1 is not in the clone, going on without it"
  elif [ ! -e "$src/$1" ]; then
    mkdir -p "$(dirname "$src/$1")" && ln -s "$top/$1" "$src/$1"
  fi
}

src_git() {
  git -C "$src" -c core.hooksPath=/dev/null -c core.fsmonitor=false \
    -c apply.ignoreWhitespace=no "$@"
}

# Applies the patch on standard input, unless the files already have its changes.
apply_patch() {
  cat >"$side/patch" || exit 1
  src_git apply --check --reverse "$side/patch" 2>/dev/null ||
    src_git apply --index --whitespace=nowarn "$side/patch" 2>/dev/null ||
    src_git apply --index --whitespace=nowarn --3way "$side/patch" >&2 || exit 1
}

# Sets a submodule to the commit that is measured.
lay_pin() {
  src_git update-index --cacheinfo "160000,$asked,$1" >&2 || exit 1
}

# Replaces files of a folder with those at the top of the commit that is measured.
lay_vendored() {
  folder=$1
  shift
  for file in "$@"; do
    at=$src/$folder/$file
    if src_git cat-file -e "$asked:$file" 2>/dev/null; then
      mkdir -p "$(dirname "$at")" && src_git cat-file blob "$asked:$file" >"$at" || exit 1
    else
      rm -f "$at"
    fi
  done
}

# Restores all files that match from another commit.
lay_files() {
  from=$1
  shift
  src_git restore --source="$from" --staged --worktree -- "$@" >&2 || exit 1
}

prepare() {
  side=$work/$1 asked=$2 commit=${engine-$2}
  src=$side/src build=$side/build cache=$side/cache prepared=$side/prepared
  short=$(printf '%.10s' "$commit")
  named=$(printf '%.10s' "$asked")
  port=$((20000 + $$ % 20000))
  mkdir -p "$build" "$cache" "$side/out" || exit 1
  repo_git worktree add --quiet --detach "$src" "$commit" >&2 || exit 1
  parent=$(repo_git rev-parse --verify --quiet "$commit^1") || parent=
  commit_date=$(repo_git log -1 --no-show-signature --format=%cI "$commit")
  "lay_$recipe"
  if [ "$submodules" = yes ] && [ -e "$src/.gitmodules" ]; then
    # Active for this command only: the clone's configuration stays as it is.
    git -C "$src" -c core.hooksPath=/dev/null -c submodule.active=. \
      submodule --quiet update --recursive >&2 || exit 1
  fi
  "links_$recipe"
}

# Shows output without control characters, so that it cannot control the terminal.
shown() {
  LC_ALL=C tr -d '\000-\010\013-\037\177' |
    LC_ALL=C sed -e "s/$(printf '\302[\200-\237]')//g" -e 's/^/    | /'
}

# show SIDE LABEL COMMIT NUMBER PATTERN: prints the lines with the value, or the last lines.
show() {
  side=$work/$1
  printf '  %s %.10s\n' "$2" "$3"
  if [ -e "$side/build.failed" ]; then
    echo '    does not build:'
    tail -n 8 "$side/build.log" | shown
    return
  fi
  if [ "$4" = build ]; then
    echo '    builds'
    return
  fi
  if [ -n "$5" ] && grep -aE -e "$5" "$side/$4.log" >"$side/$4.figure"; then
    tail -n 4 "$side/$4.figure" | shown
  else
    tail -n 8 "$side/$4.log" | shown
  fi
  if [ -e "$side/$4.failed" ]; then
    printf '    ended with exit code %s\n' "$(cat "$side/$4.failed")"
  fi
}
