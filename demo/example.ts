/** The pull request of the demo: the files of its repository, and what it proposes. A story test counts the words of its comment. */

export const REPOSITORY = 'acme/widgets';
export const FILE = 'src/widget.ts';
export const BROKEN_RULES = ['conventional-title', 'tests-with-code', 'no-debugging'];

export const POLICY = `version: 1
rules:
  - id: conventional-title
    require: { title: '^(feat|fix|docs)(\\(.+\\))?: ' }
    message: The changelog is made from titles.
    example: 'feat: negative sizes'
  - id: tests-with-code
    when: { files: 'src/**' }
    require: { files: 'test/**' }
  - id: no-debugging
    forbid: { added_lines: '\\b(debugger|console\\.log)\\b', in: '**/*.ts' }
    message: Remove debugging code before merging.
  - id: small
    require: { changed_lines: '<= 200' }
`;

export const BEFORE = `export function area(width: number, height: number): number {
  return width * height;
}
`;
export const PROPOSED = `export function area(width: number, height: number): number {
  console.log('area', width, height);
  if (width < 0 || height < 0) {
    debugger;
    return 0;
  }
  return width * height;
}
`;
export const FIXED = `export function area(width: number, height: number): number {
  if (width < 0 || height < 0) return 0;
  return width * height;
}
`;
export const TEST = `test('a widget that is turned inside out has no area', (t) => t.is(area(-1, 2), 0));
`;
