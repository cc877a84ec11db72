# The disposable child of agent.sh: opens, stats and lists what may never answer, one request at a time.
# It speaks to the agent over two FIFOs of the spool: requests come on fd 4, answers go out on fd 5. When it gets stuck
# the agent kills its session, says what it hung in, and starts another one; nobody ever waits for it.
# Fields are separated by the unit separator. A request is: what, most bytes, member, argument.
# An answer is: worker, what (m member, n note, p path, e end), state, bytes, member, source, reason.
# shellcheck disable=SC2154,SC2034
# (cap and member come with each request)

US=$(printf '\037')
CR=$(printf '\r')
NL='
'

answer() { # what state bytes member source reason
	printf '%s\037%s\037%s\037%s\037%s\037%s\037%s\n' "$wid" "$1" "$2" "$3" "$4" "$5" "$6" >&5 || exit 1
}

note() { answer n "$1" 0 "" "$2" "$3"; } # state source reason

take_slot() { # 0 or 1: the agent streams one file while the other one fills
	slot=$1
	out=$S/out.$wid.$slot
}

give() { # state member source reason [bytes]: what lies in $out is a member; the other slot is free then
	bytes=${5:-$(wc -c <"$out" 2>/dev/null)}
	bytes=$((bytes))
	case $1$bytes in whole0) set -- empty "$2" "$3" "$4" ;; esac
	answer m "$1" "$bytes" "$2" "$3" "$4"
	read -r _ <&4 || exit 1
	take_slot $((1 - slot))
}

why() { # sets $text: the first line of stderr, short and without our own names in front
	text=
	[ -s "$err" ] || return 0
	read -r text <"$err" 2>/dev/null || :
	text=${text##*cannot open }
	text=${text#head: }
	[ ${#text} -le 300 ] || text=$(printf '%.300s' "$text")
}

not_read() { # SOURCE: notes what stderr says of it
	why
	case $text in
	*"ermission denied"* | *"not permitted"*) note denied "$1" "$text" ;;
	*) note missing "$1" "$text" ;;
	esac
}

fit() { # drop what a cap cut off in the middle of a line, so that no secret is halved; fails when there is no line end
	[ "$(tail -c 1 "$out" | od -An -tx1 | tr -d ' \n')" = 0a ] && return 0
	rest=$(tail -n 1 "$out" | wc -c)
	whole=$(wc -c <"$out")
	[ $((rest)) -lt $((whole)) ] || return 1
	head -c $((whole - rest)) "$out" >"$out.fit" && cat "$out.fit" >"$out"
	rm -f "$out.fit"
}

from_line() { # drop the first, cut line of $out; fails when the whole of it is one line
	if [ "$(head -n 1 "$out" | wc -c)" -lt "$(wc -c <"$out")" ]; then
		sed 1d "$out" >"$out.fit"
	elif grep -q "$CR" "$out"; then # a progress bar
		sed "s/^[^$CR]*$CR//" "$out" >"$out.fit"
	else
		return 1
	fi
	cat "$out.fit" >"$out"
	rm -f "$out.fit"
}

settle() { # member source: what a command or read left in $out, judged by $rc and $err
	if [ -s "$out" ]; then
		why
		bytes=$(($(wc -c <"$out")))
		if [ "$bytes" -gt "$cap" ]; then
			head -c "$cap" "$out" >"$out.cap" && cat "$out.cap" >"$out"
			rm -f "$out.cap"
			fit || :
			give cut "$1" "$2" "the first $cap bytes"
			return
		fi
		[ "$rc" = 0 ] || text="exit status $rc${text:+: $text}"
		give whole "$1" "$2" "$text" "$bytes"
	elif [ -s "$err" ]; then
		not_read "$2"
	elif [ "$rc" = 0 ]; then
		note empty "$2" ""
	else
		note missing "$2" "exit status $rc"
	fi
}

do_file() { # PATH: a file of /proc, /sys or /etc
	head -c $((cap + 1)) "$1" >"$out" 2>"$err"
	rc=$?
	settle "$member" "$1"
}

do_text() { # PATH: a file of /proc that is text and ends in a line end; read in one step
	text=$(head -c $((cap + 1)) "$1" 2>"$err")
	rc=$?
	if [ -z "$text" ] || [ ${#text} -ge "$cap" ] || [ -s "$err" ]; then
		do_file "$1"
		return
	fi
	printf '%s\n' "$text" >"$out"
	give whole "$member" "$1" "" $((${#text} + 1))
}

do_run() { # FUNCTION: its standard output is the member
	("$1") >>"$out" 2>>"$err" </dev/null # appended, so that a probe may empty it and try again
	rc=$?
	settle "$member" "$1"
}

do_each() { "$1"; } # FUNCTION: it gives its members itself

find_tool() { # NAME: sets $found; on the caller's PATH, else where GPU images keep theirs
	found=
	IFS=:
	for dir in $PM_CALLER_PATH $PM_PLACES; do
		[ -f "$dir/$1" ] && [ -x "$dir/$1" ] && found=$dir/$1 && break
	done
	unset IFS
	[ -n "$found" ]
}

tool() { # NAME ARGS
	find_tool "$1" || {
		echo "$1: not found on the PATH" >&2
		return 127
	}
	shift
	"$found" "$@"
}

is_secret() { # PATH: of a file that holds secrets and no evidence
	case $1 in
	*/.ssh/* | */.gnupg/* | */.aws/* | */.kube/* | */.docker/config.json | */.netrc | */.pgpass | */.git-credentials) return 0 ;;
	*/shadow | */shadow- | */gshadow | */gshadow- | */ssl/private/* | */run/secrets/* | */id_rsa | */id_ed25519 | */vast_api_key | */.vast_api_key | */vastai/api_key | */huggingface/token | */huggingface/stored_tokens | */serviceaccount/token | /proc/*/environ | /proc/kcore) return 0 ;;
	esac
	return 1
}

plain_file() { # PATH: notes why not and fails, unless it is a regular file
	if [ -f "$1" ]; then
		target=$1
		[ ! -h "$1" ] || target=$(readlink -f "$1") # a link may lead anywhere
		is_secret "$1" && note refused "$1" "a file of secrets" && return 1
		is_secret "$target" && note refused "$1" "a link to $target, a file of secrets" && return 1
		[ -r "$1" ] && return 0
		note denied "$1" "no read permission"
	elif [ -p "$1" ]; then
		note refused "$1" "a FIFO: opening it may block or trigger its reader"
	elif [ -d "$1" ]; then
		note refused "$1" "a directory"
	elif [ -e "$1" ]; then
		note refused "$1" "not a regular file"
	elif [ -h "$1" ]; then
		note missing "$1" "a link to nothing: $(readlink "$1")"
	else
		note missing "$1" "no such file"
	fi
	return 1
}

do_glob() { # PATTERN: one answer a path
	IFS=
	# shellcheck disable=SC2086 # the pattern is to be expanded
	set -- $1
	unset IFS
	for path in "$@"; do
		case $path in
		*"$NL"* | *"$US"*) note refused "${path%%"$NL"*}" "a control character in the name" ;;
		"$1") [ ! -e "$path" ] || answer p whole 0 "" "$path" "" ;; # it may be the pattern itself, unmatched
		*) answer p whole 0 "" "$path" "" ;; # no look at it: that may hang, and its neighbours come first
		esac
	done
}

do_list() { # PATTERN: its folder's names that match, not looked at: some shells stat each file when they expand one
	[ -d "${1%/*}" ] || return 0
	# shellcheck disable=SC2012 # find would look at each
	{ ls -1f "${1%/*}" || ls -1 "${1%/*}"; } >"$out" 2>/dev/null
	while read -r path; do
		# shellcheck disable=SC2254 # a pattern
		case $path in .*) ;; ${1##*/}) answer p whole 0 "" "${1%/*}/$path" "" ;; esac
	done <"$out"
}

size_of() { # PATH: sets $size, and $facts where there is stat(1); fails as wc(1) does
	facts=$(stat -L -c '%s inode %i mtime %Y' "$1" 2>/dev/null) || facts=0
	size=${facts%% *}
	facts=${facts#"$size"}
	facts=${facts# }
	[ "$size" -gt 0 ] && return 0
	case $1 in /proc/* | /sys/*) ;; *) [ -z "$facts" ] || return 0 ;; esac
	size=$(wc -c 2>"$err" <"$1") && size=$((size)) # of a pseudo-file only reading it tells
}

do_tail() { # PATH: the end of a log
	plain_file "$1" || return 0
	size_of "$1" || { not_read "$1" && return 0; }
	[ "$size" -gt 0 ] || { give empty "$member" "$1" "$facts" 0 && return; }
	tail -c "$cap" "$1" >"$out" 2>"$err"
	if [ "$size" -le "$cap" ]; then
		give whole "$member" "$1" "$facts"
	elif from_line; then
		give cut "$member" "$1" "the last lines of $size bytes; $facts"
	else
		note withheld "$1" "no line end in the last $cap bytes: a secret could be cut in half"
	fi
}

window() { # PATH FROM BYTES END: whole lines of that range into $out
	tail -c +$(($2 + 1)) "$1" 2>"$err" | head -c "$3" >"$out"
	[ $(($2 + $3)) -ge "$4" ] || fit
}

forget() { # PATH: what was read of it leaves the page cache, which a memory cgroup counts; where dd(1) can ask for that
	[ "$no_cache" = no ] || dd if="$1" of=/dev/null iflag=nocache count=0 2>/dev/null || no_cache=no
}

do_full() { # PATH: a log bigger than its tail, as numbered parts; of a huge one the head and the end
	plain_file "$1" || return 0
	size_of "$1" || return 0
	[ "$size" -gt "$PM_TAIL_BYTES" ] || return 0
	n=1
	at=0
	limit=$size
	if [ "$size" -gt "$cap" ]; then # the head is an eighth
		window "$1" 0 $((PM_PART_BYTES / 8)) "$size" || { note withheld "$1" "a line longer than a part" && return 0; }
		give cut "$member.part1" "$1" "bytes 0 to $(($(wc -c <"$out"))) of $size"
		n=2
		at=$((size - cap + PM_PART_BYTES / 8))
		window "$1" "$at" 65536 "$size"
		at=$((at + $(head -n 1 "$out" | wc -c))) # to the next line's start
	fi
	while [ "$at" -lt "$limit" ]; do
		window "$1" "$at" "$PM_PART_BYTES" "$size" || { note withheld "$1" "a line longer than a part" && return 0; }
		got=$(($(wc -c <"$out")))
		[ "$got" -gt 0 ] || break # it shrank
		state='cut'
		[ "$got" -ge "$size" ] && state=whole
		from=$at
		at=$((at + got))
		give "$state" "$member.part$n" "$1" "bytes $from to $at of $size" "$got"
		n=$((n + 1))
	done
	forget "$1"
}

serve() { # SPOOL NUMBER: answers requests until the agent closes the FIFO
	S=$1
	wid=$2
	take_slot 0
	no_cache=
	err=$S/err.$wid
	while IFS=$US read -r kind cap member _ argument <&4; do
		: >"$out"
		: >"$err"
		"do_$kind" "$argument"
		answer e whole 0 "" "" ""
	done
}
