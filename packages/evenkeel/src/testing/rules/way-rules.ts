/**
 * Rules about the way of a schedule (way.ts): a program that repairs what it broke is right in the end, not on the way.
 *
 * Only faults under which the program has to do what it does undisturbed are compared: it may die, its requests may fail
 * and its events may be late. Where another client or time changes anything, another way can be right.
 */
import type { DeviationAction } from '../deviation.ts'
import type { Way } from '../way.ts'
import type { Rule, RuleContext } from './rule.ts'

/** What stands for the part of a name that differs by nature. */
const masked = '*'
const comparable: ReadonlySet<DeviationAction['type']> = new Set([
  'crash',
  'die',
  'refuse',
  'lose',
  'hold',
  'coalesce',
  'cut',
  'past',
  'serial',
])

export const repetition: Rule = wayRule('repeat', {
  says: 'create and delete nothing more often than undisturbed',
  judge(world, { expected, found }) {
    for (const part of ['created', 'deleted'] as const) {
      const [usually, now] = [timesByKind(expected[part]), timesByKind(found[part])]
      for (const [about, count] of found[part]) {
        const usual = expected[part].get(about) ?? 0
        // Another member of a set may have its turn: what counts is how many there were of the kind.
        const kind = kindOf(about)
        if ((now.get(kind) ?? 0) <= (usually.get(kind) ?? 0)) continue
        // A drawn name cannot be found again after a crash: creating another object and deleting the first is right.
        if (count <= usual || about.includes(masked)) continue
        world.addFinding({
          rule: 'repeat',
          severity: 'warning',
          about,
          message: `the program ${part.replace(/d$/, 's')} ${about} ${times(count)}, undisturbed ${times(usual)}: the final state does not show it`,
          hint: 'after a failure, look at what exists before you create or delete',
        })
      }
    }
  },
})

/** How often objects of each kind were created or deleted. */
function timesByKind(counts: ReadonlyMap<string, number>): Map<string, number> {
  const found = new Map<string, number>()
  for (const [about, count] of counts) found.set(kindOf(about), (found.get(kindOf(about)) ?? 0) + count)
  return found
}

/** `ConfigMap` of `ConfigMap default/a` */
function kindOf(about: string): string {
  return about.split(' ', 1)[0] ?? ''
}

export const surge: Rule = wayRule('surge', {
  says: 'have no more objects of a kind at once than undisturbed',
  judge(world, { expected, found }) {
    for (const [about, count] of found.atOnce) {
      const usual = expected.atOnce.get(about) ?? 0
      if (count > usual)
        world.addFinding({
          rule: 'surge',
          severity: 'warning',
          about,
          message: `${count} ${about} exist at once, undisturbed ${usual} at most: the final state does not show it`,
          hint: 'derive names from the owner, or count what the server has, not what a cache has',
        })
    }
  },
})

export const disruption: Rule = wayRule('disruption', {
  says: 'keep as many members of a set available as undisturbed',
  judge(world, { expected, found }) {
    for (const [name, count] of found.left) {
      const usual = expected.left.get(name)
      if (usual === undefined || count >= usual) continue
      const about = name.replace(/^\d+ /, '')
      world.addFinding({
        rule: 'disruption',
        severity: 'warning',
        about,
        message: `${count} ${about} are available after a deletion, undisturbed ${usual} at least: several are down at once`,
        hint: 'before you delete a member, read from the server whether the others are ready',
      })
    }
  },
})

function wayRule(
  code: string,
  {
    says,
    judge,
  }: { says: string; judge(world: RuleContext, ways: { readonly expected: Way; readonly found: Way }): void },
): Rule {
  return {
    code,
    says,
    watch: (world) => ({
      quiet({ isLast }) {
        const { reference, deviations } = world.options
        if (!isLast || world.nonConvergence || !reference?.way || world.stepErrors.length > 0) return
        if (deviations.every(({ action }) => comparable.has(action.type)))
          judge(world, { expected: reference.way, found: world.facts.way })
      },
    }),
  }
}

function times(count: number): string {
  return count === 1 ? 'once' : count === 0 ? 'never' : `${count} times`
}
