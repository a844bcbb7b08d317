/**
 * The reference pages, made from doc comments: `node tools/run.mjs tools/reference/main.ts [--write]`.
 *
 * One page for each stable entry point, with signatures and sentences. A name that appears, goes or changes shows up in a
 * review as a changed line; tools/tidy.test.ts fails while a page is out of date.
 */
import { mkdirSync, realpathSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { entryPoints, library, readHouse, root, type House } from '../tidy/house.ts'
import { typesOf } from '../tidy/types.ts'
import { documentedNames, type Documented } from './declarations.ts'

const folder = 'docs/reference'

/** Path to text, for every page. */
export function referencePages(house: House = readHouse()): Map<string, string> {
  const checker = typesOf(house, (path) => path.startsWith(`${library}/src/`))
  const entries = [...entryPoints(library, house.manifests.get(library) ?? {})].filter(([specifier]) =>
    isStable(specifier),
  )
  const pages = new Map<string, string>()
  const index: string[] = []
  for (const [specifier, path] of entries) {
    const file = house.files.get(path)
    if (!file) continue
    const names = documentedNames(file.source, checker)
    const page = `${folder}/${specifier.replace('evenkeel/', '')}.md`
    pages.set(page, pageOf(specifier, headerOf(file.source.text), names))
    index.push(
      `| [\`${specifier}\`](${page.slice(folder.length + 1)}) | ${names.length} | ${headerOf(file.source.text).split('. ')[0]} |`,
    )
  }
  pages.set(`${folder}/README.md`, `${indexHead}\n${index.join('\n')}\n${indexEnd}`)
  return pages
}

function isStable(specifier: string): boolean {
  return !specifier.includes('/unstable/') && !specifier.includes('/kinds/')
}

const indexHead = `# Reference

Every name of the stable entry points, from the doc comments of the sources. These pages are generated:
\`node tools/run.mjs tools/reference/main.ts --write\`.

| Entry point | Names | What it is |
|---|--:|---|`

const indexEnd = `
Built-in kinds of Kubernetes are typed values under \`evenkeel/kinds/GROUP/VERSION\`, for instance \`evenkeel/kinds/apps/v1\`.
Entry points below \`evenkeel/unstable\` may change with any release and are not listed.
[Errors](errors.md) has the reasons of an \`ApiError\` and their HTTP codes.
`

function pageOf(specifier: string, header: string, names: readonly Documented[]): string {
  return `# \`${specifier}\`\n\n${header}\n\n${names.map(sectionOf).join('\n')}`
}

function sectionOf({ name, kind, signature, text, examples, throws, members }: Documented): string {
  const parts = [
    `## ${name}`,
    `*${kind}*${text === '' ? '' : ` · ${text}`}`,
    ...(signature === '' ? [] : [fence(signature)]),
    ...throws.map((one) => `Throws ${one}`),
    ...examples.map((example) => fence(example)),
    ...(members.length === 0 ? [] : [membersTable(members)]),
  ]
  return `${parts.join('\n\n')}\n`
}

function fence(code: string): string {
  return `\`\`\`ts fragment\n${code.trim()}\n\`\`\``
}

function membersTable(members: Documented['members']): string {
  const cell = (text: string): string => text.replace(/\s*\n\s*/g, ' ').replaceAll('|', '\\|')
  const rows = members.map(({ signature, text }) => `| \`${cell(signature)}\` | ${cell(text)} |`)
  return `| Member | |\n|---|---|\n${rows.join('\n')}`
}

/** The header of an entry, without the frame of the comment. */
function headerOf(text: string): string {
  const [comment = ''] = /^\/\*\*[\s\S]*?\*\//.exec(text) ?? []
  return comment
    .replace(/^\/\*\*\s*|\s*\*\/$/g, '')
    .replace(/^\s*\* ?/gm, '')
    .trim()
}

function main(): void {
  for (const [path, text] of referencePages()) {
    if (!process.argv.includes('--write')) console.log(`${path}: ${text.split('\n').length} lines`)
    else {
      mkdirSync(dirname(join(root, path)), { recursive: true })
      writeFileSync(join(root, path), text)
    }
  }
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) main()
