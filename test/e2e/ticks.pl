#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# ticks.pl listen HOST PORT FILE: appends each line that guests of HOST send to that UDP port of the loopback:
# "MILLISECONDS HOST LINE". Watchers of several hosts may share FILE: the clock is one.
# ticks.pl check FILE: whether the guest's counter only ever rose, over all hosts in the order of arrival. Two running
# guests say a number twice, and one that runs from an older state steps back. A boot ("guest up") begins anew.
use strict;
use warnings;
use Fcntl qw(:flock O_WRONLY O_APPEND O_CREAT);
use IO::Socket::INET;
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC);

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

sub check {
	my ($file) = @_;
	my ($last, $where, $n) = (0, '', 0);
	open my $in, '<', $file or die "$file: $!\n";
	while (<$in>) {
		($last, $where) = (0, '') if / guest up$/;
		my ($ms, $host, $number) = /^(\d+) (\S+) tick (\d+)$/ or next;
		if ($number <= $last) {
			print "tick $number on $host after tick $last on $where, at $ms ms\n";
			exit 1;
		}
		($last, $where) = ($number, $host);
		$n++;
	}
	die "no ticks\n" if !$n;
}

if (($verb // '') eq 'listen' && @args == 3) { listen_to(@args) }
elsif (($verb // '') eq 'check' && @args == 1) { check(@args) }
else { die "usage: ticks.pl listen HOST PORT FILE | check FILE\n" }
