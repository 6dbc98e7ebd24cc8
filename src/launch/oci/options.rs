//! The argument of a container kind: `IMAGE,NAME=VALUE,…`.

use anyhow::{Result, bail, ensure};

use crate::launch::unknown_option;

#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::launch) struct Options<'a> {
    /// The part without a name.
    pub(in crate::launch) image: Option<&'a str>,
    named: Vec<(&'a str, &'a str)>,
}

impl<'a> Options<'a> {
    /// Parses the argument; `names` are the options that exist.
    pub(in crate::launch) fn read(
        argument: &'a str,
        usage: &str,
        names: &[&str],
    ) -> Result<Options<'a>> {
        let mut options = Options::default();
        if argument.is_empty() {
            return Ok(options);
        }
        for item in argument.split(',') {
            let Some((name, value)) = item.split_once('=') else {
                ensure!(!item.is_empty(), "an option is empty in `{argument}`: write `{usage}`");
                let folder = match item.contains('/') && names.contains(&"rootfs") {
                    true => format!("; a folder as root is `rootfs={item}`"),
                    false => String::new(),
                };
                let no_image = format!("`{item}` is no option: write `{usage}`{folder}");
                ensure!(usage.contains("IMAGE"), no_image);
                ensure!(options.image.is_none(), "a second image `{item}`: write `{usage}`");
                options.image = Some(item);
                continue;
            };
            if !names.contains(&name) {
                bail!(unknown_option(name, names));
            }
            ensure!(!value.is_empty(), "the option `{name}` has no value: write `{name}=…`");
            ensure!(options.get(name).is_none(), "the option `{name}` is given twice");
            options.named.push((name, value));
        }
        let both = options.image.is_some() && options.get("rootfs").is_some();
        ensure!(!both, "an image and a root folder exclude each other: write `{usage}`");
        Ok(options)
    }

    pub(in crate::launch) fn get(&self, name: &str) -> Option<&'a str> {
        self.named.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
    }

    /// An error unless the option's value is one of these.
    pub(in crate::launch) fn one_of(&self, name: &str, values: &[&str]) -> Result<()> {
        match self.get(name) {
            Some(value) if !values.contains(&value) => {
                bail!("`{name}={value}` is not one of {}", values.join(", "))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(argument: &str) -> Result<Options<'_>> {
        Options::read(argument, "x[:IMAGE]", &["rootfs", "runtime"])
    }

    #[test]
    fn options_are_read() {
        assert_eq!(read("").unwrap(), Options::default());
        let options = read("a/b:1,runtime=/x=y").unwrap();
        assert_eq!(options.image, Some("a/b:1"));
        assert_eq!(options.get("runtime"), Some("/x=y"));
        assert_eq!(options.get("rootfs"), None);
    }

    #[test]
    fn errors_say_what_to_write() {
        let error = |argument: &str| read(argument).unwrap_err().to_string();
        assert_eq!(error("speed=1"), "there is no option `speed`; there are rootfs, runtime");
        let near = "there is no option `root`; did you mean `rootfs`?";
        assert_eq!(error("root=/"), near);
        assert!(error("rootfs=").contains("`rootfs=…`"));
        assert!(error("rootfs=/,rootfs=/").contains("twice"));
        assert!(error("a,b").contains("a second image `b`"));
        assert!(error("a,,b").contains("empty"));
        assert!(error("a,rootfs=/").contains("exclude each other"));
        let bare = Options::read("a", "x[:rootfs=DIR]", &["rootfs"]).unwrap_err().to_string();
        assert_eq!(bare, "`a` is no option: write `x[:rootfs=DIR]`");
        let folder = Options::read("/x", "x[:OPTIONS]", &["rootfs"]).unwrap_err().to_string();
        assert_eq!(
            folder,
            "`/x` is no option: write `x[:OPTIONS]`; a folder as root is `rootfs=/x`"
        );
        let choice = read("runtime=z").unwrap().one_of("runtime", &["a", "b"]).unwrap_err();
        assert_eq!(choice.to_string(), "`runtime=z` is not one of a, b");
    }
}
