/**
 * Least privilege: a program uses only the permissions that its declarations request.
 * Secrets: the data of a Secret occurs in no other object, no Event and no log record. Certificates and public keys are no
 * secrets, and neither is what a user wrote elsewhere.
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
    const permitted = permittedIn(world.options.scenario)
    return {
      request(proc, _request, requestInfo) {
        if (!(requestInfo.isWrite || requestInfo.isRead || requestInfo.isWatch)) return
        const what =
          requestInfo.subresource === '' ? requestInfo.resource : `${requestInfo.resource}/${requestInfo.subresource}`
        const key = `${requestInfo.verb} ${what}`
        if (permitted.has(`${key} ${requestInfo.group}`) || reported.has(key)) return
        const rules = rulesOf(world, proc.name)
        if (rules.length === 0 || rules.some((rule) => allows(rule, requestInfo, what))) {
          permitted.add(`${key} ${requestInfo.group}`)
          return
        }
        reported.add(key)
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

/** What the declarations permit, as far as a schedule has used it. All processes have the same declarations. */
const permittedByScenario = new WeakMap<object, Set<string>>()

function permittedIn(scenario: object): Set<string> {
  const permitted = permittedByScenario.get(scenario) ?? new Set()
  permittedByScenario.set(scenario, permitted)
  return permitted
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
    for (const [key, value] of Object.entries(object['data'])) {
      if (typeof value !== 'string') continue
      const text = Buffer.from(value, 'base64').toString()
      if (text.length < 8 || isPublic(key, text)) continue
      found.add(text)
      found.add(value)
    }
  }
  return [...found].filter((value) => !isOfUser(value, world))
}

/** `tls.crt`, `ca.crt`, `ca-bundle.pem`, `certificate`, `id_rsa.pub`, `publicKey` */
const publicKeys =
  /(?:^|[._-])(?:crt|cer|cert|certs|certificates?|chain|ca|ca-?bundle|pub)(?:[._-](?:crt|cer|pem|der))?$|public[._-]?key/i

/** Whether the data is meant to be shown: a certificate or a public key, by its name in the Secret or its form. */
function isPublic(key: string, text: string): boolean {
  if (/PRIVATE KEY/.test(text)) return false
  return publicKeys.test(key) || /^\s*-----BEGIN (?:TRUSTED |X509 )?(?:CERTIFICATE|PUBLIC KEY)-----/.test(text)
}

/** A host name, say, that the user wrote in an object that is no Secret. */
function isOfUser(value: string, { history }: RuleContext): boolean {
  for (const { kind, metadata: _, status: __, ...rest } of history.userObjects.values())
    if (kind !== 'Secret' && stringifyJson(rest).includes(value)) return true
  return false
}
