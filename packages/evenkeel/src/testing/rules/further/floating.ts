/**
 * Nothing goes on behind a reconcile's back: what it started ends before it returns.
 */
import type { Rule } from '../finding.ts'

export const floatingPromises: Rule = {
  code: 'floating',
  says: 'what a reconcile starts ends before it returns',
  watch: (world) => ({
    request(life, request, requestInfo) {
      if (!requestInfo.isWrite && !requestInfo.isRead) return
      const [, id] = /reconcile\/(\S+)/.exec(request.headers['user-agent'] ?? '') ?? []
      if (id === undefined) return
      const entry = life.manager?.ledger.find(id)
      if (!entry?.end) return
      world.addFinding({
        rule: 'floating',
        severity: 'error',
        about: `${requestInfo.verb} ${requestInfo.resource}`,
        message: `${requestInfo.verb} ${requestInfo.resource} ${requestInfo.name} is sent after the reconcile that sends it has ended: an await is missing`,
        hint: 'await every call',
      })
    },
  }),
}
