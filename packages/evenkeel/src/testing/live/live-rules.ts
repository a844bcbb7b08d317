/**
 * Rules that need no exploration, for a running program: they check every request as it is sent.
 *
 * @example
 * const manager = new Manager({ name: 'websites', config, log, rules: liveRules({ log }), endpoints: { port: 8080 } })
 * // http://localhost:8080/debug/rules lists the findings
 *
 * Each finding is reported once, and counted. No request is refused or delayed. Only bodies of updates and merge patches
 * are parsed.
 */
import { silentLogger, type Logger } from '#base'
import type { RequestRules } from '#manager'
import { readRequestInfo } from '../requests.ts'
import { lintRequest } from '../rules/conflicts.ts'
import type { Finding } from '../rules/rule.ts'

interface LiveFinding extends Omit<Finding, 'step' | 'diff'> {
  /** How often it occurred. */
  readonly seen: number
}

/** How many different findings are kept. */
const findingsMax = 200

interface LiveRulesOptions {
  /** Receives each finding once, as a warning. @default silent */
  readonly log?: Logger
  /** Called once per finding. @default not called */
  readonly onFinding?: (finding: LiveFinding) => void
}

interface LiveRules extends RequestRules {
  findings(): readonly LiveFinding[]
}

export function liveRules({ log = silentLogger, onFinding }: LiveRulesOptions = {}): LiveRules {
  const found = new Map<string, LiveFinding>()
  const report = (finding: Omit<Finding, 'step'>): void => {
    const key = `${finding.rule} ${finding.about}`
    const known = found.get(key)
    if (!known && found.size >= findingsMax) return
    const now: LiveFinding = { ...finding, seen: (known?.seen ?? 0) + 1 }
    found.set(key, now)
    if (known) return
    log.warn('rule broken', {
      rule: finding.rule,
      about: finding.about,
      message: finding.message,
      ...(finding.hint !== undefined && { hint: finding.hint }),
    })
    onFinding?.(now)
  }
  return {
    findings: () => [...found.values()],
    onRequest(request, { grants }) {
      const requestInfo = readRequestInfo(request)
      const lint = lintRequest(request, requestInfo, { who: 'this program' })
      if (lint) report(lint)
      if (!(requestInfo.isWrite || requestInfo.isRead || requestInfo.isWatch)) return
      const what =
        requestInfo.subresource === '' ? requestInfo.resource : `${requestInfo.resource}/${requestInfo.subresource}`
      if (grants({ verb: requestInfo.verb, group: requestInfo.group, resource: what })) return
      report({
        rule: 'privilege',
        severity: 'warning',
        about: `${requestInfo.verb} ${what}`,
        message: `${requestInfo.verb} ${what} in group "${requestInfo.group}" needs a permission that no declaration requests`,
        hint: 'add it to `rbac` of the controller',
      })
    },
  }
}
