/**
 * The watchdog: one small shell per session that ends every run when Evenkeel is killed.
 *
 *   Evenkeel ──writes nothing──▶ stdin of /bin/sh        the pipe is the life line
 *   kill -9 Evenkeel ──────────▶ end of file             the kernel closes it, whatever happened
 *                                reads the session file  SIGTERM to every group whose first process is the recorded one
 *                                250 ms later            SIGKILL to the groups, and to every process that has a mark
 *                                                        of this session in its environment, until there is none
 *                                meanwhile               a Node removes the containers of the session, if there were any
 *
 * The marks cover what the file cannot: a run that was started and not recorded yet, and processes that left their group.
 * A program that starts with an empty environment in a group of its own is not found.
 *
 * Invariants: it signals a group only if pid and start time are those of the session file, and a process only if it has the
 * mark; runs with the lifetime `persistent` are left; it has no mark itself and is in a session of its own, so that neither
 * Ctrl-C nor another watchdog ends it; `quit` on its stdin ends it and nothing else. It needs `/proc`: without it, there
 * is no watchdog.
 */
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cleanupScript } from './containers/cleanup-script.ts'
import type { ProcessIdentity } from './process-host.ts'
import type { ProcessTable } from './process-table.ts'

/**
 * Only built-in commands, but for `sleep` and `grep`: it has to work when the machine is out of processes or memory.
 * `$1` is the session, `$2` its file, `$3` and `$4` the Node and the program for containers. The first words are for people who look at the process table.
 */
const script = `
session=$1 file=$2 node=$3 cleanup=$4
while read -r word; do [ "$word" = quit ] && exit 0; done

# Whoever waits for the watchdog waits for this as well: it ends with it.
containers=\${file%/*}/containers
[ -s "$containers" ] && "$node" -e "$cleanup" "$session" "$containers" &

# Sets state and start of a process; fails when there is none.
stat_of() {
  read -r line <"/proc/$1/stat" || return 1
  set -- \${line##*) }
  state=$1
  shift 19
  start=$1
}

# Sends a signal to every group of a run whose first process is the recorded one; sets alive.
signal_groups() {
  alive=0
  while read -r event mark pid ticks rest; do
    [ "$event" = started ] || continue
    case $mark in "$session"/session/*) ;; *) continue ;; esac
    stat_of "$pid" && [ "$start" = "$ticks" ] || continue
    kill "-$1" "-$pid" && [ "$state" != Z ] && alive=1
  done <"$file"
}

signal_groups TERM
for try in 1 2 3 4 5; do
  [ "$alive" = 0 ] && break
  sleep 0.05
  signal_groups 0
done
signal_groups KILL
for try in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
  found=
  for path in $(grep -lzs "^EVENKEEL_RUN=$session/session/" /proc/[0-9]*/environ); do
    pid=\${path#/proc/}
    pid=\${pid%/environ}
    stat_of "$pid" && [ "$state" != Z ] || continue
    kill -KILL "$pid"
    found=$pid
  done
  [ -z "$found" ] && break
  sleep 0.05
done
wait
`

interface WatchdogOptions {
  readonly table: ProcessTable
  /** The name of the session. */
  readonly session: string
  /** The session file. */
  readonly path: string
  /** What an executable of a container runtime needs is taken from it. @default none */
  readonly env?: Readonly<Record<string, string | undefined>>
}

/** Where container runtimes keep their things, and how they are reached. */
const runtimeVariables = /^(?:HOME|XDG_.*|DOCKER_.*|CONTAINER.*|STORAGE_.*|TMPDIR)$/

export interface Watchdog {
  readonly identity: ProcessIdentity
  /** Ends it without ending anything else. Resolves when it is gone. */
  stop(): Promise<void>
}

/** Starts the watchdog; undefined where it cannot work. */
export function startWatchdog({ table, session, path, env = {} }: WatchdogOptions): Watchdog | undefined {
  if (!existsSync('/proc/self/stat')) return undefined
  const child = spawn(
    '/bin/sh',
    [
      '-c',
      `: evenkeel-watchdog ${session.replace(/\W/g, '')}\n${script}`,
      'sh',
      session,
      path,
      process.execPath,
      cleanupScript,
    ],
    {
      cwd: '/',
      detached: true,
      env: {
        PATH: process.env['PATH'] ?? '/usr/bin:/bin',
        ...Object.fromEntries(Object.entries(env).filter(([name]) => runtimeVariables.test(name))),
      },
      stdio: ['pipe', 'ignore', 'ignore'],
    },
  )
  if (child.pid === undefined) {
    child.once('error', () => undefined)
    return undefined
  }
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => {
      resolve()
    })
  })
  // It ends with us, so it does not hold us back; its end first is an error of the pipe.
  child.unref()
  child.stdin.on('error', () => undefined)
  const identity = { pid: child.pid, startTicks: table.startTicks(child.pid) ?? 0, bootId: table.bootId() }
  return {
    identity,
    async stop() {
      child.ref()
      child.stdin.end('quit\n')
      await exited
    },
  }
}
