/**
 * What the scenario itself expects whenever everything has come to rest.
 */
import type { Rule } from '../finding.ts'

export const expectation: Rule = {
  code: 'expectation',
  says: 'whatever goes wrong, in the end it is as the scenario expects',
  watch: (world) => ({
    quiet({ isHealed }) {
      if (world.nonConvergence || (world.isBroken && !isHealed)) return
      const wrong = world.options.scenario.expects?.(world.facts.truth())
      if (wrong !== undefined)
        world.addFinding({ rule: 'expectation', severity: 'error', about: 'the world', message: wrong })
    },
  }),
}
