/**
 * The order in which the dependents of a restarted process are restarted.
 *
 * Worked example: `web` and `worker` depend on `api`, and `proxy` depends on both. A file of `api` changes:
 *
 *   api starts, is ready ─▶ web and worker are due ─▶ each starts, is ready ─▶ proxy is due, once
 *
 * Invariants: a process is due when all its dependencies in the cascade have started again and are ready; it is due once
 * in each cascade; a newer cascade of the same process replaces the one before.
 */

interface CascadeMember {
  readonly key: string
  readonly dependsOn: readonly string[]
}

type State = 'waiting' | 'due' | 'started' | 'ready'

interface Member {
  state: State
  readonly dependsOn: readonly string[]
}

interface Wave {
  readonly cause: string
  readonly members: Map<string, Member>
}

interface DueMember {
  readonly key: string
  readonly cause: string
}

export class Cascades {
  readonly #waves = new Map<string, Wave>()

  /** A process has started again: everything that depends on it follows. */
  begin(root: string, all: readonly CascadeMember[], cause: string): void {
    const affected = dependentsOf(root, all)
    this.#waves.delete(root)
    if (affected.size === 0) return
    const members = new Map<string, Member>([[root, { state: 'started', dependsOn: [] }]])
    for (const { key, dependsOn } of all)
      if (affected.has(key))
        members.set(key, { state: 'waiting', dependsOn: dependsOn.filter((one) => one === root || affected.has(one)) })
    this.#waves.set(root, { cause, members })
  }

  /** A process has started. */
  started(key: string): void {
    for (const { members } of this.#waves.values()) {
      const member = members.get(key)
      if (member?.state === 'due') member.state = 'started'
    }
  }

  /** A process is ready. Returns those that are due now. */
  ready(key: string): readonly DueMember[] {
    const due: DueMember[] = []
    for (const [root, { members, cause }] of this.#waves) {
      const member = members.get(key)
      if (member?.state !== 'started') continue
      member.state = 'ready'
      for (const [other, next] of members) {
        if (next.state !== 'waiting' || !next.dependsOn.every((one) => members.get(one)?.state === 'ready')) continue
        next.state = 'due'
        due.push({ key: other, cause })
      }
      if ([...members.values()].every(({ state }) => state === 'ready')) this.#waves.delete(root)
    }
    return due
  }
}

function dependentsOf(root: string, all: readonly CascadeMember[]): ReadonlySet<string> {
  const found = new Set<string>()
  const add = (key: string): void => {
    for (const one of all) {
      if (one.key === root || found.has(one.key) || !one.dependsOn.includes(key)) continue
      found.add(one.key)
      add(one.key)
    }
  }
  add(root)
  return found
}
