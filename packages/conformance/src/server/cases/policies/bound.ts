/**
 * Policies for one case: bound to the namespace of the case, and active before the case continues.
 *
 * A server may take a moment to activate a policy. The last policy of each kind is a fence that can be observed:
 * once it is active, so are the policies written before it.
 */
import { eventually } from '../../custom.ts'
import { ok } from '../../expect.ts'
import { sample } from '../../samples.ts'
import type { Fields } from '../../samples.ts'
import type { Place } from '../../target.ts'

/** One policy with its bindings; by default it matches creates and updates of ConfigMaps. */
interface Bound {
  readonly spec: Fields
  /** By suffix of the name; denies by default. */
  readonly bindings?: Readonly<Record<string, Fields>>
}

const about = (resource: string): Fields => ({
  resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE'], resources: [resource] }],
})
const configMaps = about('configmaps')
/** Cases do not change these. */
const fenced = about('podtemplates')

/** Matches the namespace of the case. */
function here(place: Place): Fields {
  return { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': place.namespace } } }
}

/** Activates validating policies, by suffix of their names. */
export async function validating(place: Place, policies: Readonly<Record<string, Bound>>): Promise<void> {
  for (const [suffix, { spec, bindings = { b: {} } }] of Object.entries(policies)) {
    await bind(place, ['validatingadmissionpolicies', 'validatingadmissionpolicybindings'], {
      suffix,
      spec: { matchConstraints: configMaps, ...spec },
      bindings: withActions(bindings),
    })
  }
  const fence = { matchConstraints: fenced, validations: [{ expression: 'object.metadata.name != "fence"' }] }
  await bind(place, ['validatingadmissionpolicies', 'validatingadmissionpolicybindings'], {
    suffix: 'zz',
    spec: fence,
    bindings: withActions({ b: {} }),
  })
  await eventually(
    () => place.post('podtemplates', sample('podtemplates', 'fence'), { query: { dryRun: 'All' } }),
    ({ text }) => text.includes(place.unique('zz')),
  )
}

/** Activates mutating policies, by suffix of their names. */
export async function mutating(place: Place, policies: Readonly<Record<string, Bound>>): Promise<void> {
  const common = { matchConstraints: configMaps, reinvocationPolicy: 'Never', failurePolicy: 'Fail' }
  for (const [suffix, { spec, bindings = { b: {} } }] of Object.entries(policies)) {
    await bind(place, ['mutatingadmissionpolicies', 'mutatingadmissionpolicybindings'], {
      suffix,
      spec: { ...common, ...spec },
      bindings,
    })
  }
  const fence = {
    ...common,
    matchConstraints: fenced,
    mutations: [
      {
        patchType: 'ApplyConfiguration',
        applyConfiguration: { expression: 'Object{metadata: Object.metadata{labels: {"fence": "here"}}}' },
      },
    ],
  }
  await bind(place, ['mutatingadmissionpolicies', 'mutatingadmissionpolicybindings'], {
    suffix: 'zz',
    spec: fence,
    bindings: { b: {} },
  })
  await eventually(
    () => place.post('podtemplates', sample('podtemplates', 'fence'), { query: { dryRun: 'All' } }),
    ({ status, json }) => status === 201 && Object.hasOwn(json.metadata.labels ?? {}, 'fence'),
  )
}

type PolicyKinds =
  | readonly ['validatingadmissionpolicies', 'validatingadmissionpolicybindings']
  | readonly ['mutatingadmissionpolicies', 'mutatingadmissionpolicybindings']

async function bind(
  place: Place,
  [policies, policyBindings]: PolicyKinds,
  { suffix, spec, bindings }: { suffix: string; spec: Fields; bindings: Readonly<Record<string, Fields>> },
): Promise<void> {
  const name = place.unique(suffix)
  ok(await place.post(policies, sample(policies, name, { spec })), 201)
  for (const [own, binding] of Object.entries(bindings)) {
    const { matchResources = {}, ...rest } = binding
    const body = sample(policyBindings, place.unique(`${suffix}-${own}`), {
      spec: { policyName: name, matchResources: { ...here(place), ...(matchResources as Fields) }, ...rest },
    })
    ok(await place.post(policyBindings, body), 201)
  }
}

function withActions(bindings: Readonly<Record<string, Fields>>): Readonly<Record<string, Fields>> {
  return Object.fromEntries(
    Object.entries(bindings).map(([name, binding]) => [name, { validationActions: ['Deny'], ...binding }]),
  )
}
