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

# What is new in one log; what ends without a newline waits for it.
sub read_more {
	my ($out, $run, $path) = @_;
	my @now = stat $path or return;
	if (!$run->{file} || $run->{inode} != $now[1]) {
		open my $file, '<', $path or return;
		@$run{qw(file inode rest)} = ($file, $now[1], '');
	}
	while (sysread $run->{file}, my $bytes, 65536) {
		my @lines = split /\r?\n/, $run->{rest} . $bytes, -1;
		$run->{rest} = pop @lines;
		note($out, $run->{name}, $_) for grep { length } @lines;
	}
}

sub follow {
	my ($file, %folders) = @_;
	my %runs;
	sysopen my $out, $file, O_WRONLY | O_APPEND | O_CREAT or die "$file: $!\n";
	note($out, $_, 'listens') for keys %folders;
	while (1) {
		for my $host (keys %folders) {
			for my $path (glob "$folders{$host}/*/serial0.log") {
				my ($uid) = $path =~ m{([^/]+)/serial0.log$};
				read_more($out, $runs{$path} //= { name => "$host/$uid" }, $path);
			}
		}
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
