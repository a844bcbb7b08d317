/**
 * A user with few rights, for authorization cases: requests impersonate the user.
 */
import type { Answer } from '../../answer.ts'
import type { AskOptions } from '../../client.ts'
import { eventually } from '../../custom.ts'
import { ok } from '../../expect.ts'
import type { Place } from '../../target.ts'

export const rbac = '/apis/rbac.authorization.k8s.io/v1'

interface Rule {
  readonly verbs: readonly string[]
  readonly apiGroups?: readonly string[]
  readonly resources?: readonly string[]
  readonly resourceNames?: readonly string[]
  readonly nonResourceURLs?: readonly string[]
}

export class Person {
  readonly #place: Place
  readonly name: string

  constructor(place: Place, name = 'ann') {
    this.#place = place
    this.name = place.unique(name)
  }

  request(method: string, path: string, options: AskOptions = {}): Promise<Answer> {
    return this.#place.client.request(method, path, {
      ...options,
      headers: { ...options.headers, 'impersonate-user': this.name },
    })
  }

  /** Grants rules in the namespace of the case. */
  async may(...rules: readonly Rule[]): Promise<void> {
    const { client, namespace } = this.#place
    const name = `for-${this.name}-${++given}`
    const inside = `${rbac}/namespaces/${namespace}`
    ok(await client.request('POST', `${inside}/roles`, { body: { metadata: { name }, rules } }), 201)
    ok(
      await client.request('POST', `${inside}/rolebindings`, {
        body: {
          metadata: { name },
          roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
          subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: this.name }],
        },
      }),
      201,
    )
    await this.#untilHeld(rules.at(-1))
  }

  /** New permissions may take a moment to apply. */
  async #untilHeld(rule: Rule | undefined): Promise<void> {
    const [verb = '', group = '', resource = '', name = ''] = [
      rule?.verbs[0],
      rule?.apiGroups?.[0],
      rule?.resources?.[0],
      rule?.resourceNames?.[0],
    ]
    const [plural, subresource = ''] = resource.split('/')
    const body = {
      spec: {
        resourceAttributes: { verb, group, resource: plural, subresource, name, namespace: this.#place.namespace },
      },
    }
    await eventually(
      () => this.request('POST', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', { body }),
      ({ status, json }) => status === 201 && json.status['allowed'] === true,
    )
  }
}

let given = 0
