/**
 * Strangers: what was in a service before the program came stays there, unless the program has made something of it.
 *
 * Who takes everything that is not wanted for something of its own deletes what others live on.
 */
import type { Snapshot } from '../../state/normalize.ts'
import type { Rule } from '../finding.ts'

export const preexistingResources: Rule = {
  code: 'ownership',
  says: 'leave alone what others have in a service',
  watch(world) {
    let strange: Map<string, string> | undefined
    return {
      before({ call, type }) {
        if (call && type === 'effect' && !world.options.reference) strange ??= flatten(world.facts.outside())
      },
      done({ call, type, process: life }) {
        if (!call || type !== 'effect' || !strange || world.options.reference) return
        const now = flatten(world.facts.outside())
        for (const [about, value] of strange) {
          if (now.get(about) === value) continue
          strange.delete(about)
          if (!now.has(about))
            world.addFinding({
              rule: 'ownership',
              severity: 'error',
              about,
              message: `${life.name} takes away ${about}, which was there before and which it never touched: it belongs to somebody else`,
              hint: 'remember what you made, and take away nothing else',
            })
        }
      },
    }
  },
}

function flatten(snapshot: Snapshot): Map<string, string> {
  return new Map([...snapshot].map(([about, values]) => [about, values.join()]))
}
