#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# ticks.pl listen HOST PORT FILE: appends each line that guests of HOST send to that UDP port of the loopback:
# "MILLISECONDS HOST LINE". Watchers of several hosts may share FILE: the clock is one.
# ticks.pl follow FILE HOST=FOLDER...: appends each line that QEMU logs of the serial lines of the runs below these folders,
# FOLDER/UID/serial0.log: "MILLISECONDS HOST/UID LINE".
# ticks.pl check FILE [RUNS]: whether the guest's counter, and that of the blocks that it writes, only ever rose, over all hosts in the order of arrival. Two running
# guests say a number twice, and one that runs from an older state steps back. A boot ("guest up") begins anew. RUNS says
# "UID NAME" of those that were followed: each name is a guest, and of a run of it nothing is heard once the next has begun.
use strict;
use warnings;
use Fcntl qw(:flock O_WRONLY O_APPEND O_CREAT);
use IO::Socket::INET;
use Time::HiRes qw(clock_gettime sleep CLOCK_MONOTONIC);

my ($verb, @args) = @ARGV;

sub note { # in one write, so that lines of two watchers do not mix
	my ($out, $host, $line) = @_;
	syswrite $out, sprintf("%d %s %s\n", clock_gettime(CLOCK_MONOTONIC) * 1000, $host, $line);
}

sub listen_to {
	my ($host, $port, $file) = @_;
	my $socket = IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => $port, Proto => 'udp')
		or die "port $port: $!\n";
	my %rest;
	sysopen my $out, $file, O_WRONLY | O_APPEND | O_CREAT or die "$file: $!\n";
	note($out, $host, 'listens');
	while (defined(my $from = recv $socket, my $bytes, 65536, 0)) {
		my @lines = split /\r?\n/, ($rest{$from} // '') . $bytes, -1;
		$rest{$from} = pop @lines;
		note($out, $host, $_) for grep { length } @lines;
	}
}

# What is new in one log, up to a size; what ends without a newline waits for it.
sub read_more {
	my ($out, $run, $log) = @_;
	if (!$run->{file} || $run->{inode} != $log->{inode}) {
		open my $file, '<', $log->{path} or return;
		(stat $file)[1] == $log->{inode} or return;
		@$run{qw(file inode rest at)} = ($file, $log->{inode}, '', 0);
	}
	while ($run->{at} < $log->{size}) {
		my $n = sysread $run->{file}, my $bytes, $log->{size} - $run->{at} or return;
		my @lines = split /\r?\n/, $run->{rest} . $bytes, -1;
		$run->{at} += $n;
		$run->{rest} = pop @lines;
		note($out, "$log->{host}/$log->{uid}", $_) for grep { length } @lines;
	}
}

# All logs as they are now, by their paths.
sub look {
	my (%folders) = @_;
	my %logs;
	for my $host (keys %folders) {
		for my $path (glob "$folders{$host}/*/serial0.log") {
			my @stat = Time::HiRes::stat($path) or next;
			my ($uid) = $path =~ m{([^/]+)/serial0.log$};
			$logs{$path} = { path => $path, host => $host, uid => $uid, inode => $stat[1], size => $stat[7], written => $stat[9] };
		}
	}
	return \%logs;
}

# … at one moment: nothing is written between two looks that are the same.
sub look_twice {
	my (%folders) = @_;
	my ($before, $now, @seen) = ('', '');
	do {
		my $logs = look(%folders);
		@seen = sort { $a->{written} <=> $b->{written} } values %$logs;
		($before, $now) = ($now, join ' ', map { "$_ @{$logs->{$_}}{qw(inode size)}" } sort keys %$logs);
	} until ($now eq $before);
	return @seen;
}

# However late this is: of two logs with something new the one that was written to last is the second. A guest that moves
# writes to the one and then to the other.
sub follow {
	my ($file, %folders) = @_;
	my %runs;
	sysopen my $out, $file, O_WRONLY | O_APPEND | O_CREAT or die "$file: $!\n";
	note($out, $_, 'listens') for keys %folders;
	while (1) {
		read_more($out, $runs{$_->{path}} //= {}, $_) for look_twice(%folders);
		sleep($ENV{TICKS_POLL} // 0.02);
	}
}

sub refuse {
	print "@_\n";
	exit 1;
}

sub names_of {
	my ($file) = @_;
	my %names;
	open my $in, '<', $file or die "$file: $!\n";
	/^(\S+) (\S+)$/ and $names{$1} = $2 while <$in>;
	return %names;
}

sub check {
	my ($file, $runs) = @_;
	my %names = defined $runs ? names_of($runs) : ();
	my (%guests, $n);
	open my $in, '<', $file or die "$file: $!\n";
	while (<$in>) {
		my ($ms, $host, $uid, $line) = m{^(\d+) ([^/ ]+)(?:/(\S+))? (.*)$} or next;
		$uid //= '';
		my $guest = $guests{$names{$uid} // $uid} //= { tick => 0, block => 0, where => '', run => $uid };
		$guest->{tick} = 0 if $line eq 'guest up';
		$guest->{block} = 0 if $line =~ /^(guest up|writing)$/;
		my ($what, $number) = $line =~ /^(tick|block) (\d+)$/ or next;
		if ($uid ne $guest->{run}) {
			$guest->{over}{$guest->{run}} = 1;
			$guest->{run} = $uid;
		}
		refuse("$what $number on $host of run $uid, after the next run had begun, at $ms ms")
			if $guest->{over}{$uid};
		refuse("$what $number on $host after $what $guest->{$what}, and something on $guest->{where}, at $ms ms")
			if $number <= $guest->{$what};
		@$guest{$what, 'where'} = ($number, $host);
		$n++;
	}
	refuse('nothing was heard') if !$n;
}

if (($verb // '') eq 'listen' && @args == 3) { listen_to(@args) }
elsif (($verb // '') eq 'follow' && @args > 1) { follow(shift @args, map { split /=/, $_, 2 } @args) }
elsif (($verb // '') eq 'check' && (@args == 1 || @args == 2)) { check(@args) }
else { die "usage: ticks.pl listen HOST PORT FILE | follow FILE HOST=FOLDER... | check FILE [RUNS]\n" }
