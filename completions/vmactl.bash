# SPDX-License-Identifier: Apache-2.0
# Completion of vmactl for bash. Commands and options come from its own help, names from the agent.

_vmactl_words() { # what follows the heading $1 in the help of the command $2
	vmactl ${2:+"$2"} --help 2>/dev/null | awk -v heading="$1" '
		index($0, heading) == 1 { on = 1; next }
		on && !/^ / { exit }
		on && heading == "Commands:" { print $1 }
		on && heading == "Options:" {
			for (i = 1; i <= NF && $i ~ /^-/; i++) {
				sub(/,$/, "", $i)
				sub(/=.*/, "=", $i)
				print $i
			}
		}'
}

_vmactl_names() { # the names of type $1, each after the prefix $2
	local name
	vmactl "${common[@]}" --request-timeout=2s get "$1" -o name 2>/dev/null |
		while read -r name; do printf '%s%s\n' "$2" "${name#*/}"; done
}

_vmactl() {
	local cur prev word command='' type='' common=() i words
	COMPREPLY=()
	cur=${COMP_WORDS[COMP_CWORD]}
	prev=${COMP_WORDS[COMP_CWORD - 1]}

	# bash splits at '='; what was typed before decides: the command, its first argument, where to ask.
	for ((i = 1; i < COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		case $word in
		-n | --namespace | --socket)
			[[ ${COMP_WORDS[i + 1]} != = ]] || i=$((i + 1))
			common+=("${word/#-n/--namespace}=${COMP_WORDS[i + 1]}")
			i=$((i + 1))
			;;
		-*) [[ ${COMP_WORDS[i + 1]} != = ]] || i=$((i + 2)) ;;
		*) if [[ -z $command ]]; then command=$word; elif [[ -z $type ]]; then type=$word; fi ;;
		esac
	done
	[[ $prev != = ]] || prev=${COMP_WORDS[COMP_CWORD - 2]}
	[[ $cur != = ]] || cur=

	case $prev in
	-f | --filename | --socket)
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		compopt -o filenames
		return
		;;
	-o | --output) words='wide json yaml name jsonpath= custom-columns=' ;;
	--for) [[ $command = wait ]] && words='condition= jsonpath= create delete' ||
		words=$(_vmactl_names vm vm/) ;;
	--cascade) words='background foreground orphan' ;;
	--grace-period) words='0 infinity' ;;
	--dry-run) words='server client none' ;;
	*)
		if [[ $cur = -* ]]; then
			words=$(_vmactl_words Options: "$command")
		elif [[ -z $command ]]; then
			words=$(_vmactl_words Commands:)
		else
			case $command in
			get | describe | delete | wait)
				case $cur$type in
				vm/*) words=$(_vmactl_names vm vm/) ;;
				vmi/*) words=$(_vmactl_names vmi vmi/) ;;
				*) [[ -n $type ]] && words=$(_vmactl_names "$type" '') || words='vm vmi vmim events namespaces domains peers pods nodes kubevirts secrets cm pvc dv net-attach-def vmf vmcf vmp vmcp pc migrationpolicies all' ;;
				esac
				;;
			create) words=namespace ;;
			db) words=accept ;;
			adopt) words=$(_vmactl_names domains '') ;;
			peer)
				case $type in
				'') words='ls init cert join declare-dead' ;;
				ls | cert | declare-dead) words=$(_vmactl_names peers '') ;;
				join)
					mapfile -t COMPREPLY < <(compgen -f -- "$cur")
					compopt -o filenames
					return
					;;
				esac
				;;
			explain | start | stop | restart | migrate | migrate-cancel) words=$(_vmactl_names vm '') ;;
			console | pause | unpause | soft-reboot | reset) words=$(_vmactl_names vmi '') ;;
			vnc) words="$(_vmactl_names vmi '') screenshot" ;;
			port-forward)
				case $cur in
				vm/*) words=$(_vmactl_names vm vm/) ;;
				*) words="$(_vmactl_names vmi vmi/) vm/" ;;
				esac
				;;
			help) words=$(_vmactl_words Commands:) ;;
			validate)
				mapfile -t COMPREPLY < <(compgen -f -- "$cur")
				compopt -o filenames
				return
				;;
			esac
		fi
		;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
	[[ ${COMPREPLY[0]-} != *= ]] || compopt -o nospace
}
complete -F _vmactl vmactl
