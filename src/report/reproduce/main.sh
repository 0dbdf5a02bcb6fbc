
work=
trap finish EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
case $repo in
  -*) repo=./$repo ;;
esac
repo=$(cd "$repo" && pwd) || exit 1
for wanted in "${engine-$commit_1}" "${engine-$commit_2}"; do
  repo_git cat-file -e "$wanted^{commit}" || {
    say "error: $repo does not have $wanted"
    say 'hint: fetch it, or name another clone: sh reproduce.sh CLONE'
    exit 1
  }
done
top=$(repo_git rev-parse --show-toplevel 2>/dev/null) || top=
work=$(mktemp -d "${TMPDIR:-/tmp}/bisect-ppl.XXXXXX") || exit 1
work=$(cd "$work" && pwd -P) || exit 1

failed=0
for number in 1 2; do
  eval "wanted=\$commit_$number label=\$label_$number recipe=\$recipe_$number"
  prepare "$number" "$wanted"
  say "building $named ($label)"
  if ("compile_$recipe") >"$side/build.log" 2>&1 </dev/null; then
    "measure_all_$recipe"
  else
    : >"$side/build.failed"
    failed=1
  fi
done
show_all
exit "$failed"
