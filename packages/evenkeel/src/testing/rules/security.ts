/**
 * Least privilege: a program uses only the permissions that its declarations request.
 * Secrets: the data of a Secret occurs in no other object, no Event and no log record.
 */
import { isJsonObject, stringifyJson } from '#api'
import type { PolicyRule } from '#controller'
import type { RequestInfo } from '../requests.ts'
import type { Rule, RuleContext } from './rule.ts'

export const privilege: Rule = {
  code: 'privilege',
  says: 'use only the permissions that the declaration requests',
  watch: (world) => {
    const reported = new Set<string>()
    return {
      request(proc, _request, requestInfo) {
        if (world.options.reference || !(requestInfo.isWrite || requestInfo.isRead || requestInfo.isWatch)) return
        const what =
          requestInfo.subresource === '' ? requestInfo.resource : `${requestInfo.resource}/${requestInfo.subresource}`
        const key = `${requestInfo.verb} ${what}`
        if (reported.has(key)) return
        reported.add(key)
        const rules = rulesOf(world, proc.name)
        if (rules.length === 0 || rules.some((rule) => allows(rule, requestInfo, what))) return
        world.addFinding({
          rule: 'privilege',
          severity: 'error',
          about: key,
          message: `${key} in group "${requestInfo.group}" needs a permission that no declaration requests: a cluster would refuse it`,
          hint: 'add it to `rbac` of the controller',
        })
      },
    }
  },
}

function rulesOf(world: RuleContext, name: string): readonly PolicyRule[] {
  const manager = world.processes.find((proc) => proc.name === name)?.manager
  return manager?.rbac().scopes.flatMap(({ rules }) => rules) ?? []
}

function allows({ apiGroups, resources, verbs }: PolicyRule, { group, verb }: RequestInfo, what: string): boolean {
  const has = (list: readonly string[], word: string): boolean => list.includes('*') || list.includes(word)
  return has(apiGroups, group) && has(resources, what) && has(verbs, verb)
}

export const secrets: Rule = {
  code: 'secrets',
  says: 'copy no data of a Secret into objects, Events or logs',
  watch: (world) => ({
    quiet({ isLast }) {
      if (isLast && !world.options.reference) judgeSecrets(world)
    },
  }),
}

function judgeSecrets(world: RuleContext): void {
  const values = secretValues(world)
  if (values.length === 0) return
  const report = (about: string, where: string): void => {
    world.addFinding({
      rule: 'secrets',
      severity: 'error',
      about,
      message: `${where} contains data of a Secret`,
      hint: 'write the name of the Secret and the key instead of the value',
    })
  }
  for (const { actor, after } of world.history.events) {
    if (!after || after.kind === 'Secret' || !world.facts.isProcess(actor)) continue
    const text = readable(stringifyJson(after))
    if (values.some((value) => text.includes(value)))
      report(`${after.kind}`, `${after.kind} ${after.metadata.name ?? ''}`)
  }
  for (const { record } of world.logs) {
    const text = `${record.message} ${JSON.stringify(record.fields, (_, value: unknown) => (value instanceof Error ? `${value.message} ${String(value.cause ?? '')}` : value)) ?? ''}`
    if (values.some((value) => text.includes(value))) report('log', `the log record "${record.message.slice(0, 60)}"`)
  }
}

/** The text, and everything in it decoded from base64. */
function readable(text: string): string {
  const decoded = (text.match(/[A-Za-z0-9+/]{12,}={0,2}/g) ?? []).map((word) => Buffer.from(word, 'base64').toString())
  return [text, ...decoded].join('\n')
}

/** The values of all Secrets, plain and in base64, if they are long enough not to match by accident. */
function secretValues(world: RuleContext): string[] {
  const found = new Set<string>()
  for (const object of [
    ...world.facts.objects,
    ...world.history.events.flatMap(({ after }) => (after ? [after] : [])),
  ]) {
    if (object.kind !== 'Secret' || !isJsonObject(object['data'])) continue
    for (const value of Object.values(object['data']))
      for (const form of typeof value === 'string' ? formsOf(value) : []) found.add(form)
  }
  return [...found]
}

function formsOf(value: string): string[] {
  const text = Buffer.from(value, 'base64').toString()
  return text.length >= 8 ? [text, value] : []
}
