/**
 * Identity: a name can be used again, a uid cannot. Who deletes or replaces must mean the very object it has seen.
 */
import { describeObject } from '../../state/normalize.ts'
import type { Rule } from '../finding.ts'

export const identity: Rule = {
  code: 'identity',
  says: 'a name can be used again, a uid cannot: mean the very object you have seen',
  watch: (world) => ({
    done({ asked, life, outcome, type }) {
      const news = world.facts.news('identity')
      if (type !== 'effect' || !asked || asked.name === '' || !/^20/.test(outcome)) return
      if (asked.verb !== 'delete' && asked.verb !== 'update') return
      for (const { actor, before } of news) {
        if (actor !== life.name || !before || before.metadata.name !== asked.name) continue
        const seen = life.line.sight.of(before.kind, { name: asked.name, namespace: asked.namespace })
        if (seen === undefined || seen.metadata.uid === before.metadata.uid) continue
        world.find({
          rule: 'identity',
          severity: 'error',
          about: describeObject(before),
          message: `${life.name} ${asked.verb}s ${describeObject(before)}, but it is not the one that it has seen: it was made anew under the same name`,
          hint: 'delete with a precondition on the uid; update with the resourceVersion you read',
        })
      }
    },
  }),
}
