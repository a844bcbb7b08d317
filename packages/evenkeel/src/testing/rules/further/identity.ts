/**
 * Identity: a name can be used again, a uid cannot. Who deletes or replaces must mean the very object it has seen.
 */
import { describeObject } from '../../state/normalize.ts'
import type { Rule } from '../finding.ts'

export const identity: Rule = {
  code: 'identity',
  says: 'a name can be used again, a uid cannot: mean the very object you have seen',
  watch: (world) => ({
    done({ requestInfo, process: life, outcome, type }) {
      const news = world.facts.eventsSince('identity')
      if (type !== 'effect' || !requestInfo || requestInfo.name === '' || !/^20/.test(outcome)) return
      if (requestInfo.verb !== 'delete' && requestInfo.verb !== 'update') return
      for (const { actor, before } of news) {
        if (actor !== life.name || !before || before.metadata.name !== requestInfo.name) continue
        const seen = life.network.observed.find(before.kind, {
          name: requestInfo.name,
          namespace: requestInfo.namespace,
        })
        if (seen === undefined || seen.metadata.uid === before.metadata.uid) continue
        world.addFinding({
          rule: 'identity',
          severity: 'error',
          about: describeObject(before),
          message: `${life.name} ${requestInfo.verb}s ${describeObject(before)}, but it is not the one that it has seen: it was made anew under the same name`,
          hint: 'delete with a precondition on the uid; update with the resourceVersion you read',
        })
      }
    },
  }),
}
