/**
 * Least privilege: a program asks only for what its declaration says it needs.
 */
import type { PolicyRule } from '#controller'
import type { RequestInfo } from '../../life/asked.ts'
import type { World } from '../../world/world.ts'
import type { Rule } from '../finding.ts'

export const privilege: Rule = {
  code: 'privilege',
  says: 'ask only for what the declaration says you need',
  watch: (world) => {
    const told = new Set<string>()
    return {
      request(life, _request, requestInfo) {
        if (world.options.reference || !(requestInfo.isWrite || requestInfo.isRead || requestInfo.isWatch)) return
        const what =
          requestInfo.subresource === '' ? requestInfo.resource : `${requestInfo.resource}/${requestInfo.subresource}`
        const key = `${requestInfo.verb} ${what}`
        if (told.has(key)) return
        told.add(key)
        const rules = rulesOf(world, life.name)
        if (rules.length === 0 || rules.some((rule) => allows(rule, requestInfo, what))) return
        world.addFinding({
          rule: 'privilege',
          severity: 'error',
          about: key,
          message: `${key} in group "${requestInfo.group}" is not among the permissions that the declaration asks for: on a cluster it would be refused`,
          hint: 'add it to `rbac` of the controller',
        })
      },
    }
  },
}

function rulesOf(world: World, name: string): readonly PolicyRule[] {
  const manager = world.processes.find((life) => life.name === name)?.manager
  return manager?.rbac().scopes.flatMap(({ rules }) => rules) ?? []
}

function allows({ apiGroups, resources, verbs }: PolicyRule, { group, verb }: RequestInfo, what: string): boolean {
  const has = (list: readonly string[], word: string): boolean => list.includes('*') || list.includes(word)
  return has(apiGroups, group) && has(resources, what) && has(verbs, verb)
}
