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
 *
 * A thousand runs that end together share one list, so it is indexed once: what a run costs is in proportion to its members.
 */
import { isSameProcess, type ProcessEntry, type ProcessIdentity } from './process-host.ts'

/** A run: its first process, and the mark that its descendants inherit. */
export interface RunSigns {
  readonly identity: Pick<ProcessIdentity, 'pid' | 'startTicks'>
  readonly mark: string
}

export function descendantsOf({ identity, mark }: RunSigns, entries: readonly ProcessEntry[]): readonly ProcessEntry[] {
  const table = indexOf(entries)
  const { pid, startTicks } = identity
  const leader = table.byPid.get(pid)
  const isLeaderAlive = leader !== undefined && isSameProcess(leader, identity)
  const marked = table.byMark.get(mark) ?? []
  const hasSign = (isMember: (entry: ProcessEntry) => boolean): boolean => isLeaderAlive || marked.some(isMember)
  const found = new Map<number, ProcessEntry>()
  for (const entry of [
    ...(isLeaderAlive ? [leader] : []),
    ...marked,
    ...(hasSign(({ groupId }) => groupId === pid) ? (table.byGroup.get(pid) ?? []) : []),
    ...(hasSign(({ sessionId }) => sessionId === pid) ? (table.bySession.get(pid) ?? []) : []),
  ])
    if (entry.startTicks >= startTicks) found.set(entry.pid, entry)
  addChildren(found, table)
  return [...found.values()]
}

/** Adds children of members until there are no more. A child is never older than its parent. */
function addChildren(found: Map<number, ProcessEntry>, { byParent }: ProcessIndex): void {
  // A map is visited in the order in which it grows.
  for (const parent of found.values())
    for (const child of byParent.get(parent.pid) ?? [])
      if (!found.has(child.pid) && child.startTicks >= parent.startTicks) found.set(child.pid, child)
}

/** A list of processes by what they are looked for. */
interface ProcessIndex {
  readonly byPid: ReadonlyMap<number, ProcessEntry>
  /** `s/session/u/1/exec-2` is below `s/session/u/1` as well. */
  readonly byMark: ReadonlyMap<string, readonly ProcessEntry[]>
  readonly byGroup: ReadonlyMap<number, readonly ProcessEntry[]>
  readonly bySession: ReadonlyMap<number, readonly ProcessEntry[]>
  readonly byParent: ReadonlyMap<number, readonly ProcessEntry[]>
}

const indexes = new WeakMap<readonly ProcessEntry[], ProcessIndex>()

function indexOf(entries: readonly ProcessEntry[]): ProcessIndex {
  const known = indexes.get(entries)
  if (known) return known
  const index = {
    byPid: new Map(entries.map((entry) => [entry.pid, entry])),
    byMark: new Map<string, ProcessEntry[]>(),
    byGroup: new Map<number, ProcessEntry[]>(),
    bySession: new Map<number, ProcessEntry[]>(),
    byParent: new Map<number, ProcessEntry[]>(),
  }
  for (const entry of entries) {
    for (const mark of marksAbove(entry.mark)) add(index.byMark, mark, entry)
    add(index.byGroup, entry.groupId, entry)
    add(index.bySession, entry.sessionId, entry)
    add(index.byParent, entry.parentPid, entry)
  }
  indexes.set(entries, index)
  return index
}

function add<K>(map: Map<K, ProcessEntry[]>, key: K, entry: ProcessEntry): void {
  const list = map.get(key)
  if (list) list.push(entry)
  else map.set(key, [entry])
}

/** A mark, and those that it is below. */
function marksAbove(mark: string | undefined): readonly string[] {
  if (mark === undefined) return []
  const marks = [mark]
  for (let end = mark.lastIndexOf('/'); end > 0; end = mark.lastIndexOf('/', end - 1)) marks.push(mark.slice(0, end))
  return marks
}

/** The process of this identity in a list. */
export function findIn(
  entries: readonly ProcessEntry[],
  identity: Pick<ProcessIdentity, 'pid' | 'startTicks'>,
): ProcessEntry | undefined {
  const entry = indexOf(entries).byPid.get(identity.pid)
  return entry && isSameProcess(entry, identity) ? entry : undefined
}

/**
 * Programs that pass SIGTERM on to the program they start: that one must not get it from us as well, because many servers
 * take a second SIGTERM as "now at once".
 */
const forwarder =
  /^(?:\S*\/)?(?:node\S*\s+(?:-\S+\s+)*(?:\S*\/)?)?(?:(?:npm|npx|pnpm|yarn|tsx|nodemon)(?:-cli|-\d[\d.]*\d)?(?:\.[cm]?js)?|tsx\/dist\/cli\.[cm]?js)(?:\s|$)/

/**
 * `script`, which holds a terminal, ends when the program in it has ended, and exits as that does. A signal would make it kill the program
 * without its time; one that comes when the program has just ended makes it exit with 0.
 */
const terminal = /^(?:\S*\/)?script -qefc /

/** Without those that hold a terminal: they begin and end with the program in it. */
export function withoutTerminals(members: readonly ProcessEntry[]): readonly ProcessEntry[] {
  return members.filter(({ command }) => !terminal.test(command))
}

/** Of the members of a run those that a signal is sent to; the others get it from their parent. */
export function withoutForwarded(members: readonly ProcessEntry[]): readonly ProcessEntry[] {
  const forwarders = new Set(members.filter(({ command }) => forwarder.test(command)).map(({ pid }) => pid))
  return members.filter(({ parentPid }) => !forwarders.has(parentPid))
}
