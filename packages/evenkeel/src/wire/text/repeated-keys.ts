/**
 * Keys that stand twice in a map of a YAML text, with the lines they stand in: what a strict reader of an applied
 * configuration complains about. Asked only when a reader has found that there are any.
 */
import { decodeUtf8 } from './read-json.ts'
import type { Yaml } from './yaml-value.ts'

/** As many as upstream reports. */
const sentencesMax = 100

/** `line 7: key "a" already set in map`, in the order of the text. */
export async function duplicateYamlKeys(source: Uint8Array): Promise<string[]> {
  const yaml: Yaml = await import('yaml')
  const lines = new yaml.LineCounter()
  const [document] = yaml.parseAllDocuments(decodeUtf8(source), {
    schema: 'failsafe',
    version: '1.1',
    merge: false,
    uniqueKeys: false,
    logLevel: 'silent',
    lineCounter: lines,
  })
  const sentences: string[] = []
  if (document === undefined || !('contents' in document)) return sentences
  yaml.visit(document, {
    Map(_, { items }) {
      const seen = new Set<string>()
      for (const { key } of items) {
        if (!yaml.isScalar(key)) continue
        const name = String(key.value)
        if (seen.has(name) && sentences.length < sentencesMax)
          sentences.push(
            `line ${lines.linePos(key.range?.[0] ?? 0).line}: key ${JSON.stringify(name)} already set in map`,
          )
        seen.add(name)
      }
    },
  })
  return sentences
}
