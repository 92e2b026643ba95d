# SPDX-License-Identifier: Apache-2.0
# Completion of vmactl for fish. Commands come from its own help, names from the agent.

function __vmactl_commands
    vmactl help 2>/dev/null | awk '/^Commands:/ { on = 1; next } on && !/^ / { exit }
        on { name = $1; $1 = ""; print name "\t" substr($0, 2) }'
end

function __vmactl_names
    vmactl --request-timeout=2s get $argv[1] -o name 2>/dev/null | string replace -r '.*/' ''
end

function __vmactl_type
    set -l words (commandline -opc | string match -v -- '-*')
    contains -- "$words[3]" vm vmi vmim events namespaces domains peers pods nodes kubevirts secrets cm pvc dv net-attach-def vmf vmcf vmp vmcp pc migrationpolicies; and echo $words[3]
end

complete -c vmactl -f
complete -c vmactl -n __fish_use_subcommand -a '(__vmactl_commands)'
complete -c vmactl -n '__fish_seen_subcommand_from get describe delete wait; and test -z (__vmactl_type)' -a 'vm vmi vmim events namespaces domains peers pods nodes kubevirts secrets cm pvc dv net-attach-def vmf vmcf vmp vmcp pc migrationpolicies'
complete -c vmactl -n '__fish_seen_subcommand_from get describe delete wait; and test -n (__vmactl_type)' -a '(__vmactl_names (__vmactl_type))'
complete -c vmactl -n '__fish_seen_subcommand_from create' -a namespace
complete -c vmactl -n '__fish_seen_subcommand_from adopt' -a '(__vmactl_names domains)'
complete -c vmactl -n '__fish_seen_subcommand_from adopt' -l name -x -d 'what the VM is to be called'
complete -c vmactl -n '__fish_seen_subcommand_from adopt' -s y -l yes -d 'do not ask'
complete -c vmactl -n '__fish_seen_subcommand_from adopt' -l dry-run -d 'only show it'
complete -c vmactl -n '__fish_seen_subcommand_from peer; and not __fish_seen_subcommand_from ls init cert join declare-dead' -a 'ls init cert join declare-dead'
complete -c vmactl -n '__fish_seen_subcommand_from peer; and __fish_seen_subcommand_from ls cert declare-dead' -a '(__vmactl_names peers)'
complete -c vmactl -n '__fish_seen_subcommand_from peer; and __fish_seen_subcommand_from join' -F
complete -c vmactl -n '__fish_seen_subcommand_from declare-dead' -l power-off-verified -d 'the host is without power'
complete -c vmactl -n '__fish_seen_subcommand_from db' -a accept
complete -c vmactl -n '__fish_seen_subcommand_from peer' -l pki -r -d 'folder of certificates'
complete -c vmactl -n '__fish_seen_subcommand_from explain start stop restart migrate migrate-cancel' -a '(__vmactl_names vm)'
complete -c vmactl -n '__fish_seen_subcommand_from migrate' -l to -x -a '(__vmactl_names peers)' -d 'to which host'
complete -c vmactl -n '__fish_seen_subcommand_from migrate' -l check -d 'only ask what stands in its way'
complete -c vmactl -n '__fish_seen_subcommand_from migrate' -l wait -d 'return only when it has ended, and show how far it is'
complete -c vmactl -n '__fish_seen_subcommand_from console pause unpause soft-reboot reset' -a '(__vmactl_names vmi)'
complete -c vmactl -n '__fish_seen_subcommand_from vnc' -a 'screenshot (__vmactl_names vmi)'
complete -c vmactl -n '__fish_seen_subcommand_from vnc' -l proxy-only -d 'start no viewer, print the port'
complete -c vmactl -n '__fish_seen_subcommand_from vnc' -l preserve-session -d 'do not displace who is connected'
complete -c vmactl -n '__fish_seen_subcommand_from vnc' -l move-cursor -d 'move the pointer before'
complete -c vmactl -n '__fish_seen_subcommand_from vnc' -s f -l filename -r -F -d 'where the picture goes'
complete -c vmactl -n '__fish_seen_subcommand_from vnc proxy' -l port -x -d 'the port to listen on'
complete -c vmactl -n '__fish_seen_subcommand_from port-forward' -a '(string replace -r "^" "vm/" (__vmactl_names vm))'
complete -c vmactl -n '__fish_seen_subcommand_from port-forward' -l stdio -d 'forward standard input and output'
complete -c vmactl -n '__fish_seen_subcommand_from validate' -F
complete -c vmactl -s h -l help -d 'print help'
complete -c vmactl -s n -l namespace -x -d namespace
complete -c vmactl -l socket -r -d "the agent's socket"
complete -c vmactl -n '__fish_seen_subcommand_from apply create delete validate' -s f -l filename -r -F -d file
complete -c vmactl -n '__fish_seen_subcommand_from get events explain apply create version' -s o -l output -x -a 'wide json yaml name jsonpath= custom-columns=' -d format
complete -c vmactl -n '__fish_seen_subcommand_from get events' -s w -l watch -d 'go on printing what changes'
complete -c vmactl -n '__fish_seen_subcommand_from get events delete' -s A -l all-namespaces -d 'of every namespace'
complete -c vmactl -n '__fish_seen_subcommand_from get delete' -s l -l selector -x -d 'only objects with these labels'
complete -c vmactl -n '__fish_seen_subcommand_from start' -l paused -d 'start it paused'
complete -c vmactl -n '__fish_seen_subcommand_from stop restart delete' -l force -d 'do not wait for the guest'
complete -c vmactl -n '__fish_seen_subcommand_from stop restart delete' -l grace-period -x -a '0 infinity' -d seconds
complete -c vmactl -n '__fish_seen_subcommand_from delete' -l now -d 'the same as --grace-period=1'
complete -c vmactl -n '__fish_seen_subcommand_from delete' -l cascade -x -a 'background foreground orphan' -d 'what becomes of the VMI'
complete -c vmactl -n '__fish_seen_subcommand_from wait delete migrate host-shutdown' -l timeout -x -d 'how long to wait'
complete -c vmactl -n '__fish_seen_subcommand_from host-shutdown' -l cancel -d 'the host does not go down after all'
complete -c vmactl -n '__fish_seen_subcommand_from host-shutdown' -l if-system-stops -d 'only if systemd is stopping the system'
complete -c vmactl -n '__fish_seen_subcommand_from wait' -l for -x -a 'condition= jsonpath= create delete' -d 'what to wait for'
