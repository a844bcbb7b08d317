/**
 * Nothing goes on behind a reconcile's back: what it started ends before it returns.
 */
import type { Rule } from '../finding.ts'

export const floating: Rule = {
  code: 'floating',
  says: 'what a reconcile starts ends before it returns',
  watch: (world) => ({
    request(life, request, asked) {
      if (!asked.isWrite && !asked.isRead) return
      const [, id] = /reconcile\/(\S+)/.exec(request.headers['user-agent'] ?? '') ?? []
      if (id === undefined) return
      const entry = life.manager?.ledger.find(id)
      if (!entry?.end) return
      world.find({
        rule: 'floating',
        severity: 'error',
        about: `${asked.verb} ${asked.resource}`,
        message: `${asked.verb} ${asked.resource} ${asked.name} is sent after the reconcile that sends it has ended: an await is missing`,
        hint: 'await every call',
      })
    },
  }),
}
