/**
 * Generates the reference pages from doc comments: `node tools/run.mjs tools/reference/main.ts [--write]`.
 *
 * One page per stable entry point, with signatures and sentences. A new, removed or changed name shows up in a
 * review as a changed line; tools/tidy.test.ts fails while a page is out of date.
 */
import { mkdirSync, realpathSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { entryPoints, library, readHouse, root, type House } from '../tidy/house.ts'
import { typesOf } from '../tidy/types.ts'
import { documentedNames, type Documented, type Group } from './declarations.ts'

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
      `| [\`${specifier}\`](${page.slice(folder.length + 1)}) | ${names.length} | ${headerOf(file.source.text).split('.', 1)[0]} |`,
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
  const anchors = anchorsOf(names)
  const list = (title: string, group: Group): string[] => {
    const rows = names.filter((one) => one.group === group).map((one) => `| ${anchors.get(one)} | ${summaryOf(one)} |`)
    return rows.length === 0 ? [] : [`| ${title} | |\n|---|---|\n${rows.join('\n')}`]
  }
  const [about = '', ...examples] = header.split(/^@example\n/m)
  const parts = [
    `# \`${specifier}\``,
    about.trim(),
    ...examples.map((example) => fence(example)),
    ...list('Functions, classes, constants', 'value'),
    ...list('Types', 'type'),
    ...names.map((one) => sectionOf(one, anchors)),
  ]
  return `${parts.join('\n\n')}\n`
}

/** A link to each name. Names that differ only in case share an anchor, so the later one gets a number. */
function anchorsOf(names: readonly Documented[]): Map<Documented, string> {
  const seen = new Map<string, number>()
  return new Map(
    names.map((one) => {
      const slug = one.name.toLowerCase()
      const count = seen.get(slug) ?? 0
      seen.set(slug, count + 1)
      return [one, `[\`${one.name}\`](#${slug}${count === 0 ? '' : `-${count}`})`]
    }),
  )
}

/** The first sentence. */
function summaryOf({ text, kind }: Documented): string {
  const [paragraph = ''] = text.split('\n\n')
  const [sentence = ''] = paragraph.replace(/\s*\n\s*/g, ' ').split(/(?<=\.)\s+(?=[A-Z`])/)
  return sentence === '' ? `*${kind}*` : cell(sentence.replace(/:$/, '.'))
}

function sectionOf(one: Documented, anchors: ReadonlyMap<Documented, string>): string {
  const { name, kind, signature, text, parameters, throws, examples, bases, members, options } = one
  const linkTo = (base: string): string =>
    [...anchors].find(([{ name: other }]) => other === base)?.[1] ?? `\`${base}\``
  return [
    `## ${name}`,
    `*${kind}*${text === '' ? '' : ` · ${text}`}`,
    ...(signature === '' ? [] : [fence(signature)]),
    ...(parameters.length === 0 ? [] : [parameters.map((parameter) => `- ${cell(parameter)}`).join('\n')]),
    ...throws.map((thrown) => `Throws ${cell(thrown)}`),
    ...examples.map((example) => fence(example)),
    ...(members.length === 0 ? [] : [membersTable('Member', members)]),
    ...(options.length === 0 ? [] : [membersTable('Option', options)]),
    ...(bases.length === 0 ? [] : [`It also has the members of ${bases.map(linkTo).join(' and ')}.`]),
  ].join('\n\n')
}

function fence(code: string): string {
  return `\`\`\`ts fragment\n${code.trim()}\n\`\`\``
}

function membersTable(title: string, members: Documented['members']): string {
  const hasExamples = members.some(({ example }) => example !== '')
  const rows = members.map(({ signature, text, example }) => {
    const shown = example === '' ? '' : `\`${cell(example)}\``
    return `| \`${cell(signature)}\` | ${cell(text)} |${hasExamples ? ` ${shown} |` : ''}`
  })
  return `| ${title} | |${hasExamples ? ' Example |' : ''}\n|---|---|${hasExamples ? '---|' : ''}\n${rows.join('\n')}`
}

/** Text for a table cell: on one line, with escaped bars. */
function cell(text: string): string {
  return text.replace(/\s*\n\s*/g, ' ').replaceAll('|', '\\|')
}

/** The header of an entry, without the comment markers and the name of the entry. */
function headerOf(text: string): string {
  const [comment = ''] = /^\/\*\*[\s\S]*?\*\//.exec(text) ?? []
  return comment
    .replace(/^\/\*\*\s*|\s*\*\/$/g, '')
    .replace(/^\s*\* ?/gm, '')
    .trim()
    .replace(/^`[^`]*`: (.)/, (_, first: string) => first.toUpperCase())
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
