"""The demo studies: invented species of butterfly, with a pack of images for each study."""
