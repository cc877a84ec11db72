# Members of a plain ustar stream, headers and all, and the notes of what became of each probe.
# shellcheck disable=SC2153,SC2154,SC2034,SC2059
# (part of agent.sh: its variables are those of the other parts)

lost() { # the reader is gone: nobody is left to write for
	ended=yes
	clean_up
	exit 1
}

zeros() { # N: sets $zeros, an escaped string for printf
	zeros=
	fill=$1
	while [ "$fill" -ge 16 ]; do zeros=$zeros$ZEROS fill=$((fill - 16)); done
	while [ "$fill" -gt 0 ]; do zeros=$zeros'\000' fill=$((fill - 1)); done
}

add_up() { # TEXT: adds its bytes to $sum
	rest=$1
	while [ -n "$rest" ]; do
		before=${ASCII%%"${rest%"${rest#?}"}"*}
		sum=$((sum + 32 + ${#before}))
		rest=${rest#?}
	done
}

add_octal() { # NUMBER: adds the bytes of its 11 octal digits to $sum
	digits=$1
	i=11
	while [ "$i" -gt 0 ]; do
		sum=$((sum + 48 + digits % 8)) digits=$((digits / 8)) i=$((i - 1))
	done
}

header() { # NAME BYTES
	name=$1
	prefix=
	while [ ${#name} -gt 100 ]; do # ustar: at most 155 bytes of folders, 100 of the rest
		case ${name#?} in */*) ;; *) break ;; esac
		prefix=${prefix:+$prefix/}${name%%/*}
		name=${name#*/}
	done
	while [ ${#name} -gt 100 ]; do name=${name#?}; done
	while [ ${#prefix} -gt 155 ]; do prefix=${prefix#?}; done
	mtime=$((epoch + (now - started) / 100))
	sum=1973 # of the fields that never change, and of eight blanks in the place of the sum
	add_up "$name$prefix"
	add_octal "$2"
	add_octal "$mtime"
	zeros $((100 - ${#name}))
	after_name=$zeros
	zeros $((167 - ${#prefix}))
	after_prefix=$zeros
	zeros 100
	link=$zeros
	zeros 80
	printf "%s${after_name}0000600\\0000000000\\0000000000\\000%011o\\000%011o\\000%06o\\000 0${link}ustar\\00000$zeros%s$after_prefix" \
		"$name" "$2" "$mtime" "$sum" "$prefix" 2>/dev/null || lost
}

padding() { # BYTES
	[ $(($1 % 512)) -eq 0 ] && return
	zeros $((512 - $1 % 512))
	printf "$zeros" 2>/dev/null || lost
}

member() { # NAME BYTES FILE: exactly so many bytes of the file
	header "$1" "$2"
	if [ "$2" -gt 0 ]; then
		if [ "$2" -le 128 ] && IFS= read -r line <"$3" && [ $((${#line} + 1)) -eq "$2" ]; then # one short line: no child
			printf '%s\n' "$line" 2>/dev/null || lost
		else
			head -c "$2" "$3" 2>/dev/null || lost
		fi
		padding "$2"
	fi
	members=$((members + 1))
	sent=$((sent + $2))
}

text_member() { # NAME TEXT
	size_of=${#2}
	[ "$counts_bytes" = yes ] || size_of=$(($(printf '%s' "$2" | wc -c)))
	header "$1" "$size_of"
	printf '%s' "$2" 2>/dev/null || lost
	padding "$size_of"
	members=$((members + 1))
}

safe_name() { # PATH: sets $safe, the same with plain characters only
	safe=${1#/}
	case $safe in
	*[!A-Za-z0-9._/@%+=:,-]* | *..*)
		safe=$(printf '%s' "$safe" | tr -c 'A-Za-z0-9._/@%+=:,-' _ | sed 's/\.\.*\./_/g')
		case ${safe##*/} in # two names may look the same now
		*.*) safe=${safe%.*}~$step.${safe##*.} ;;
		*) safe=$safe~$step ;;
		esac
		;;
	esac
}

# --- what became of each probe

log() { # PROBE STATE HUNDREDTHS BYTES MEMBER SOURCE REASON
	seconds=$(($3 / 100)).$(($3 / 10 % 10))$(($3 % 10))
	notes="$notes$1	$2	$seconds	$4	${5:--}	${6:--}	${7:--}$NL"
	states="$states $2"
}

flush_notes() {
	stream
	[ -n "$notes" ] || return 0
	note_count=$((note_count + 1))
	text_member "notes/$note_count" "# probe	state	seconds	bytes	member	source	reason$NL$notes"
	notes=
}
