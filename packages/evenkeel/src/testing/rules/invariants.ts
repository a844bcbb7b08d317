/**
 * Invariants of a scenario: `always` holds after each commit of the program, `eventually` holds in the end.
 *
 * A user or another client may break an invariant, and the program needs time to notice that. So `always` is a mistake of
 * the program only if it held before the commit, and if the program could observe what others have done before.
 */
import type { Rule } from './rule.ts'

export const always: Rule = {
  code: 'always',
  says: 'no commit of the program breaks an invariant of the scenario',
  watch(world) {
    const { always: judge } = world.options.scenario
    if (!judge) return {}
    let before = judge(world.facts.truth())
    return {
      committed(actor) {
        const now = judge(world.facts.truth())
        if (now !== undefined && before === undefined && world.facts.isProcess(actor) && world.facts.hasNoticedOthers)
          world.addFinding({
            rule: 'always',
            severity: 'error',
            about: 'the world',
            message: `a write of ${actor} breaks an invariant of the scenario: ${now}`,
            hint: 'the state in between counts too: order the writes, and wait for what the next one needs',
          })
        before = now
      },
    }
  },
}

export const eventually: Rule = {
  code: 'eventually',
  says: 'in the end the invariant of the scenario holds',
  watch: (world) => ({
    quiet({ isLast }) {
      if (!isLast || world.nonConvergence) return
      const wrong = world.options.scenario.eventually?.(world.facts.truth())
      if (wrong !== undefined)
        world.addFinding({
          rule: 'eventually',
          severity: 'error',
          about: 'the world',
          message: `all faults are over and nothing is left to do, but ${wrong}`,
        })
    },
  }),
}
