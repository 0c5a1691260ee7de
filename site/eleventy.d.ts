/** What the site uses of Eleventy, which has no types. */
declare module '@11ty/eleventy' {
  interface Configuration {
    setTemplateFormats(formats: string): void;
    setLibrary(name: 'md', library: { render(markdown: string): string }): void;
    addTemplate(path: string, content: string, data: Readonly<Record<string, unknown>>): void;
    addTransform(name: string, transform: (this: { page: { outputPath: string } }, content: string) => string): void;
  }
  export default class Eleventy {
    constructor(
      input: string,
      output: string,
      options: { quietMode: boolean; configPath: false; config: (configuration: Configuration) => void },
    );
    write(): Promise<void>;
  }
}
