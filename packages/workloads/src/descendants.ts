/**
 * Which processes belong to a run, from a list of processes. Four signs, because each can be lost:
 *
 *   mark      `EVENKEEL_RUN` in the environment, or one below it, as commands of `exec` have; lost by `env -i`, sudo
 *   group     the process group that the leader began    lost by setpgid, setsid
 *   session   the session that the leader began          lost by setsid
 *   parents   a chain of parents up to the leader        lost when a parent ends
 *
 * Worked example: `sh -c 'server & setsid worker &'`, where sh has ended already.
 *
 *   pid  parent  group  session  mark     belongs because of
 *   813       1    812      812  s/…/1    its mark; its group, as one member has the mark
 *   814       1    814      814  s/…/1    its mark
 *   815     814    814      814  -        its parent
 *   901       1    901      901  -        (a stranger)
 *
 * A number of a group or session is a sign only while its leader lives or a member has the mark: later the kernel may give
 * the number to a stranger.
 */
import { isSameProcess, type ProcessEntry, type ProcessIdentity } from './process-host.ts'

/** A run: its first process, and the mark that its descendants inherit. */
export interface RunSigns {
  readonly identity: Pick<ProcessIdentity, 'pid' | 'startTicks'>
  readonly mark: string
}

export function descendantsOf({ identity, mark }: RunSigns, entries: readonly ProcessEntry[]): readonly ProcessEntry[] {
  const isLeaderAlive = entries.some((entry) => isSameProcess(entry, identity))
  const hasMark = (entry: ProcessEntry): boolean => entry.mark === mark || entry.mark?.startsWith(`${mark}/`) === true
  const marked = entries.filter(hasMark)
  const isOurGroup = isLeaderAlive || marked.some(({ groupId }) => groupId === identity.pid)
  const isOurSession = isLeaderAlive || marked.some(({ sessionId }) => sessionId === identity.pid)
  const found = new Map<number, ProcessEntry>()
  for (const entry of entries) {
    const isOurs =
      hasMark(entry) ||
      isSameProcess(entry, identity) ||
      (isOurGroup && entry.groupId === identity.pid) ||
      (isOurSession && entry.sessionId === identity.pid)
    if (isOurs && entry.startTicks >= identity.startTicks) found.set(entry.pid, entry)
  }
  addChildren(found, entries)
  return [...found.values()]
}

/** Adds children of members until there are no more. A child is never older than its parent. */
function addChildren(found: Map<number, ProcessEntry>, entries: readonly ProcessEntry[]): void {
  for (let size = -1; size !== found.size;) {
    size = found.size
    for (const entry of entries) {
      const parent = found.get(entry.parentPid)
      if (parent && !found.has(entry.pid) && entry.startTicks >= parent.startTicks) found.set(entry.pid, entry)
    }
  }
}

/**
 * Programs that pass SIGTERM on to the program they start: that one must not get it from us as well, because many servers
 * take a second SIGTERM as "now at once".
 */
const forwarder =
  /^(?:\S*\/)?(?:node\S*\s+(?:-\S+\s+)*(?:\S*\/)?)?(?:(?:npm|npx|pnpm|yarn|tsx|nodemon)(?:-cli|-\d[\d.]*\d)?(?:\.[cm]?js)?|tsx\/dist\/cli\.[cm]?js)(?:\s|$)/

/** `script` ends when the program in its terminal has ended; a signal would make it kill the program without its time. */
const terminal = /^(?:\S*\/)?script -qefc /

/** Without those that only hold a terminal for another member. */
export function withoutTerminals(members: readonly ProcessEntry[]): readonly ProcessEntry[] {
  return members.filter(
    ({ pid, command }) => !(terminal.test(command) && members.some(({ parentPid }) => parentPid === pid)),
  )
}

/** Of the members of a run those that a signal is sent to; the others get it from their parent. */
export function withoutForwarded(members: readonly ProcessEntry[]): readonly ProcessEntry[] {
  const forwarders = new Set(members.filter(({ command }) => forwarder.test(command)).map(({ pid }) => pid))
  return members.filter(({ parentPid }) => !forwarders.has(parentPid))
}
