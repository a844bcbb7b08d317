/**
 * The names of the admission plugins, in the order in which they run, and the choice among them.
 */

/** All plugins of an Evenkeel server, with the names and in the order of kube-apiserver. */
export const admissionPluginNames = [
  'LimitRanger',
  'ServiceAccount',
  'TaintNodesByCondition',
  'PodSecurity',
  'Priority',
  'DefaultTolerationSeconds',
  'DefaultStorageClass',
  'StorageObjectInUseProtection',
  'OwnerReferencesPermissionEnforcement',
  'RuntimeClass',
  'DefaultIngressClass',
  'MutatingAdmissionPolicy',
  'MutatingAdmissionWebhook',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionWebhook',
  'ResourceQuota',
] as const

export type AdmissionPluginName = (typeof admissionPluginNames)[number]

export interface PluginChoice {
  readonly enablePlugins?: readonly AdmissionPluginName[] | undefined
  readonly disablePlugins?: readonly AdmissionPluginName[] | undefined
}

/** Off unless they are enabled. */
const offByDefault: ReadonlySet<AdmissionPluginName> = new Set([
  'ServiceAccount',
  'StorageObjectInUseProtection',
  'OwnerReferencesPermissionEnforcement',
])

/**
 * The plugins that run, in their order.
 *
 * @throws {RangeError} for an unknown plugin, and for one that is both enabled and disabled.
 */
export function selectPlugins({ enablePlugins = [], disablePlugins = [] }: PluginChoice): AdmissionPluginName[] {
  for (const [option, names] of Object.entries({ enablePlugins, disablePlugins }))
    for (const name of names)
      if (!isAdmissionPluginName(name))
        throw new RangeError(
          `admission.${option}: there is no plugin ${JSON.stringify(name)}: choose from ${admissionPluginNames.join(', ')}`,
        )
  const both = enablePlugins.find((name) => disablePlugins.includes(name))
  if (both !== undefined) throw new RangeError(`admission: the plugin ${both} is both enabled and disabled`)
  return admissionPluginNames.filter(
    (name) => enablePlugins.includes(name) || (!offByDefault.has(name) && !disablePlugins.includes(name)),
  )
}

export function isAdmissionPluginName(name: string): name is AdmissionPluginName {
  return (admissionPluginNames as readonly string[]).includes(name)
}
