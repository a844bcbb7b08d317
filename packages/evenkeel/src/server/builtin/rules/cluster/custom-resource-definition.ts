/**
 * CustomResourceDefinitions as objects: names that follow from other names. What a definition defines is judged by the
 * machinery that serves it.
 */
import { fieldError, FieldPath } from '#api'
import { draftIn, draftsIn, ensureDraft, setDefault, setDefaultText } from '../drafts.ts'
import type { Hooks } from '../hooks.ts'
import { isSet, objectIn, textIn, textsIn } from '../reading.ts'

export const customResourceDefinitionRules: Hooks = {
  default(object) {
    const spec = ensureDraft(object, 'spec')
    const names = ensureDraft(spec, 'names')
    const kind = textIn(names, 'kind')
    if (kind !== '') {
      setDefaultText(names, 'singular', kind.toLowerCase())
      setDefaultText(names, 'listKind', `${kind}List`)
    }
    setDefault(spec, 'conversion', { strategy: 'None' })
    const webhook = draftIn(ensureDraft(spec, 'conversion'), 'webhook')
    const config = webhook && draftIn(webhook, 'clientConfig')
    const service = config && draftIn(config, 'service')
    if (service !== undefined) setDefault(service, 'port', 443)
    const stored = draftsIn(spec, 'versions').find((version) => isSet(version, 'storage'))
    const status = draftIn(object, 'status')
    if (status !== undefined && stored !== undefined && textsIn(status, 'storedVersions').length === 0) {
      status['storedVersions'] = [textIn(stored, 'name')]
    }
  },
  validate(object) {
    const spec = objectIn(object, 'spec')
    const name = `${textIn(objectIn(spec, 'names'), 'plural')}.${textIn(spec, 'group')}`
    if (object.metadata.name === name) return []
    return [fieldError.invalid(FieldPath.of('metadata', 'name'), object.metadata.name ?? '', 'must be spec.names.plural+"."+spec.group')]
  },
}
